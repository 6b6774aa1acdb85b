package docs_test

import (
	"strings"
	"testing"
)

// block is a block of code of a page.
type block struct {
	// line is that of its first line in the page, from 1.
	line int
	// fenced blocks may name their language; the others are indented by four spaces or more.
	fenced bool
	lang   string
	// lines are without the indent of the fence, or without the common indent of an indented block.
	lines []string
}

// blocks are the blocks of code of a page, in order.
func blocks(text string) []block {
	var out []block
	var open *block // a fenced block without its end, or an indented block
	indent := ""
	end := func() {
		if open != nil {
			out = append(out, *open)
		}
		open = nil
	}
	for i, line := range strings.Split(text, "\n") {
		bare := strings.TrimLeft(line, " ")
		lang, fence := strings.CutPrefix(bare, "```")
		switch {
		case fence && open != nil && open.fenced:
			end()
		case fence:
			end()
			indent = line[:len(line)-len(bare)]
			open = &block{line: i + 2, fenced: true, lang: lang}
		case open != nil && open.fenced:
			open.lines = append(open.lines, strings.TrimPrefix(line, indent))
		case strings.HasPrefix(line, "    "):
			if open == nil {
				open = &block{line: i + 1}
			}
			open.lines = append(open.lines, line)
		case bare != "" || open == nil:
			end()
		default: // a blank line may be within an indented block
			open.lines = append(open.lines, "")
		}
	}
	end()
	for i := range out {
		if !out[i].fenced {
			out[i].lines = dedented(out[i].lines)
		}
	}
	return out
}

// dedented are lines without their common indent and without blank lines at the end.
func dedented(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	least := -1
	for _, line := range lines {
		if n := len(line) - len(strings.TrimLeft(line, " ")); strings.TrimSpace(line) != "" && (least < 0 || n < least) {
			least = n
		}
	}
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		out = append(out, line[min(least, len(line)):])
	}
	return out
}

func TestBlocksOfAPage(t *testing.T) {
	t.Parallel()
	text := "# A\n\nText:\n\n    one\n\n      two\n\nText.\n\n```yaml\na: 1\n\n    b\n```\n- item\n\n      three\n  ```\n  four\n  ```\nText.\n"
	want := []block{
		{5, false, "", []string{"one", "", "  two"}}, {12, true, "yaml", []string{"a: 1", "", "    b"}},
		{18, false, "", []string{"three"}}, {20, true, "", []string{"four"}},
	}
	got := blocks(text)
	if len(got) != len(want) {
		t.Fatalf("%d blocks, want %d: %+v", len(got), len(want), got)
	}
	for i, b := range got {
		w := want[i]
		if b.line != w.line || b.fenced != w.fenced || b.lang != w.lang || strings.Join(b.lines, "\n") != strings.Join(w.lines, "\n") {
			t.Errorf("%+v, want %+v", b, w)
		}
	}
}
