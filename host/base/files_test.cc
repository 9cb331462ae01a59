#include "host/base/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace otc::host {
namespace {

TEST(Files, ReadsWholeFilesAndNamesThePathOtherwise) {
  const std::string path = ::testing::TempDir() + "files_test." + std::to_string(getpid());
  std::ofstream(path) << std::string(20'000, 'x');
  const auto content = ReadSmallFile(path);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content->size(), 20'000u);
  EXPECT_EQ(ReadSmallFile(path, 19'999).status().reason(), "FileTooLarge");
  EXPECT_TRUE(ReadSmallFile(path, 20'000).ok());
  unlink(path.c_str());
  const Status missing = ReadSmallFile(path).status();
  EXPECT_EQ(missing.code(), Code::kNotFound);
  EXPECT_NE(missing.message().find(path), std::string::npos);
  EXPECT_EQ(ReadSmallFile("/").status().reason(), "FileUnreadable");
}

}  // namespace
}  // namespace otc::host
