// A throw-away certification authority for tests and demos: ca.pem, server.pem
// and server-key.pem (localhost, 127.0.0.1, ::1; valid for ten years). The CA's
// own key is not kept.
#ifndef OTC_TESTS_SIM_OTC_TLS_FILES_H_
#define OTC_TESTS_SIM_OTC_TLS_FILES_H_

#include <string>

#include "sdk/include/otc/cpp/status.h"

namespace otc::sim {

// Makes the directory and the three files unless all three are there.
Status MakeTlsFiles(const std::string& directory);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_TLS_FILES_H_
