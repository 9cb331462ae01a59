#!/usr/bin/env python3
"""The golden layout catches every change that breaks the ABI, and only those."""
import unittest

import layout

HEADER = layout.HEADER.read_text()
GOLDEN = layout.extract(HEADER)


def changed(old, new):
    assert HEADER.count(old) == 1, f"{HEADER.count(old)} times: {old}"
    return HEADER.replace(old, new)


class LayoutTest(unittest.TestCase):
    def errors(self, header):
        return layout.prefix_errors(GOLDEN, layout.extract(header), layout.FROZEN)

    def test_the_header_matches_every_golden_file(self):
        self.assertEqual(layout.check(), 0)

    def test_appending_is_allowed(self):
        self.assertEqual(self.errors(changed("  void (*destroy)(void* self);\n",
                                             "  void (*destroy)(void* self);\n"
                                             "  otc_method health;\n")), [])
        self.assertEqual(self.errors(changed("#define OTC_GRPC_INSTANT 0x1u",
                                             "#define OTC_GRPC_INSTANT 0x1u\n"
                                             "#define OTC_GRPC_LATER 0x2u")), [])
        self.assertEqual(self.errors(changed("#define OTC_ABI_MINOR 0u",
                                             "#define OTC_ABI_MINOR 1u")), [])

    def test_breaking_changes_are_caught(self):
        cases = {
            "slots of one type exchanged": ("  otc_method get;", "  otc_method fetch;"),
            "slot inserted": ("  otc_method watches;", "  otc_method first;\n  otc_method watches;"),
            "slot removed": ("  otc_method describe;\n", ""),
            "constant changed": ("#define OTC_PENDING 100", "#define OTC_PENDING 101"),
            "constant removed": ("#define OTC_DATA_LOSS 15\n", ""),
            "parameter changed": ("(*emit)(const otc_call* call, uint32_t kind,",
                                  "(*emit)(const otc_call* call, uint64_t kind,"),
            "thread tag changed": ("/* [any] Puts the document", "/* [in-call] Puts the document"),
            "frozen struct grown": ("  otc_str key;\n  otc_str value;\n",
                                    "  otc_str key;\n  otc_str value;\n  uint64_t kind;\n"),
            "method shape changed": ("typedef int32_t (*otc_method)(void* self,",
                                     "typedef int64_t (*otc_method)(void* self,"),
            "entry changed": ("otc_plugin_entry_v1(const otc_host* host);",
                              "otc_plugin_entry_v1(void);"),
        }
        for name, (old, new) in cases.items():
            with self.subTest(name):
                text = changed(old, new)
                if name == "parameter changed":
                    self.assertEqual(len(self.errors(text)), 1)
                self.assertNotEqual(self.errors(text), [])

    def test_types_outside_of_the_abi_and_padding_are_refused(self):
        for new in ("  bool ready;\n", "  long count;\n", "  uint16_t odd;\n"):
            with self.subTest(new), self.assertRaises(SystemExit):
                layout.extract(changed("  void (*destroy)(void* self);\n",
                                       "  void (*destroy)(void* self);\n" + new))


if __name__ == "__main__":
    unittest.main()
