/* A load balancer whose four slots are BAD_SLOT. */
#ifndef OTC_TESTDATA_BAD_BALANCER_H_
#define OTC_TESTDATA_BAD_BALANCER_H_

static const otc_load_balancer_1 kTable = {
    sizeof(otc_load_balancer_1), 0, BAD_SLOT, BAD_SLOT, BAD_SLOT, BAD_SLOT};
static const otc_interface kInterfaces[] = {{{"otc.load-balancer/draft-1", 25}, &kTable}};
#define BAD_INTERFACES kInterfaces
#define BAD_INTERFACE_COUNT 1
#define BAD_TITLE "A balancer with one fault (draft)"
#include "base.h"

#endif /* OTC_TESTDATA_BAD_BALANCER_H_ */
