package host

import (
	"fmt"
	"strings"
)

// xmlDoc writes elements as nvidia-smi does: one per line, indented by tabs.
type xmlDoc struct {
	c     *call
	depth int
}

// in writes a group whose elements body writes.
func (x *xmlDoc) in(name string, body func()) {
	x.line("<%s>", name)
	x.depth++
	body()
	x.depth--
	x.line("</%s>", name)
}

// el writes one element with text.
func (x *xmlDoc) el(name, format string, a ...any) {
	x.line("<%s>%s</%s>", name, escape(fmt.Sprintf(format, a...)), name)
}

// na writes elements that the hardware does not have.
func (x *xmlDoc) na(names ...string) {
	for _, n := range names {
		x.el(n, "N/A")
	}
}

func (x *xmlDoc) line(format string, a ...any) {
	x.c.printf("%s%s\n", strings.Repeat("\t", x.depth), fmt.Sprintf(format, a...))
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escape(s string) string { return escaper.Replace(s) }

func yesNo(on bool) string {
	if on {
		return "Yes"
	}
	return "No"
}

func active(on bool) string {
	if on {
		return "Active"
	}
	return "Not Active"
}
