// A plugin in Go, which the host can't take: the Go runtime owns signals and
// threads of its process.
package main

import "C"

//export otc_plugin_entry_v1
func otc_plugin_entry_v1(host uintptr) uintptr { return 0 }

func main() {}
