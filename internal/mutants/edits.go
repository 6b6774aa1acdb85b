package mutants

import (
	"bytes"
	"slices"
)

// edits are insertions into one file. Nothing is ever removed, and no insertion has a line
// break, so that lines stay where they are.
type edits struct {
	list []insertion
}

type insertion struct {
	at    int
	text  string
	order int // among those at one place
}

// around inserts before and after a range. Ranges that are inserted later are inside.
func (e *edits) around(from, to int, before, after string) {
	n := len(e.list) + 1
	e.list = append(e.list, insertion{at: from, text: before, order: n}, insertion{at: to, text: after, order: -n})
}

// at inserts at one offset, after the existing openings.
func (e *edits) at(at int, text string) {
	e.list = append(e.list, insertion{at: at, text: text, order: len(e.list) + 1})
}

func (e *edits) apply(src []byte) []byte {
	slices.SortFunc(e.list, func(a, b insertion) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.order - b.order
	})
	var out bytes.Buffer
	done := 0
	for _, i := range e.list {
		out.Write(src[done:i.at])
		out.WriteString(i.text)
		done = i.at
	}
	out.Write(src[done:])
	return out.Bytes()
}
