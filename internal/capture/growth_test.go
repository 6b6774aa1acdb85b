package capture_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/capture"
	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestOutputsAreRedactedInLinearTime(t *testing.T) {
	growth.Linear(t, "a captured output", func(b []byte) { capture.NewRedactor([]byte("a"), "gpu-01").Redact(string(b)) },
		growth.Text{Name: "UUIDs", Again: "GPU-00000000-0000-0000-0000-0000000{n} "},
		growth.Text{Name: "hexadecimal digits", Again: "0"},
		growth.Text{Name: "serials", Again: "<serial>a{n}</serial>"},
		growth.Text{Name: "open serials", Again: "<serial>"},
		growth.Text{Name: "a long serial", Head: "<serial>", Again: "a", Tail: "b<"},
		growth.Text{Name: "serials that begin alike", Head: "<serial>", Again: "aaaaaaaa", Tail: "</serial>" + string(growth.Text{Again: "a"}.Of(64<<10))},
		growth.Text{Name: "serial numbers", Again: "Serial Number : a{n}\n"},
		growth.Text{Name: "serials in JSON", Again: `"serial": "a{n}" `},
		growth.Text{Name: "open serials in JSON", Again: `"serial": "`},
		growth.Text{Name: "GUIDs", Again: "0x00000000000{n} "},
		growth.Text{Name: "colons", Again: "00:"},
		growth.Text{Name: "addresses of IPv6", Again: "fe80::{n} "},
		growth.Text{Name: "an address of IPv6", Head: "fe80:", Again: "0:"},
		growth.Text{Name: "private addresses", Again: "10.0.0.1 "},
		growth.Text{Name: "dots", Head: "10", Again: ".1"},
		growth.Text{Name: "homes", Again: "path=/home/a{n} "},
		growth.Text{Name: "blanks", Again: " "},
		growth.Text{Name: "lines", Again: "\n"},
		growth.Text{Name: "quotes", Again: `"`},
	)
}
