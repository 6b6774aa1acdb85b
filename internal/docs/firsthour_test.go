package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/cli"
	"github.com/firstlight/firstlight/internal/detect/detecttest"
	"github.com/firstlight/firstlight/internal/site"
)

// leftOut is the line of an output on a page for lines that are left out.
const leftOut = "..."

// unprinted are the problems of a block with an output: its lines must be printed in this order and, where no line
// leftOut is between them, one after the other.
func unprinted(block []string, printed string) []string {
	var out []string
	all := strings.Split(printed, "\n")
	from := 0
	for len(block) > 0 {
		part := block
		if n := slices.Index(block, leftOut); n >= 0 {
			part, block = block[:n], block[n+1:]
		} else {
			block = nil
		}
		at := indexOf(all[from:], part)
		if at >= 0 {
			from += at + len(part)
			continue
		}
		before := len(out)
		for _, line := range part {
			if !slices.Contains(all, line) {
				out = append(out, fmt.Sprintf("%q is not printed", line))
			}
		}
		if len(out) == before {
			out = append(out, fmt.Sprintf("the %d lines from %q are printed in another order, or with others between them", len(part), part[0]))
		}
	}
	return out
}

// indexOf is where the lines of part are in all, one after the other; -1: nowhere.
func indexOf(all, part []string) int {
	for i := 0; i+len(part) <= len(all); i++ {
		if slices.Equal(all[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

func TestUnprintedLineIsFound(t *testing.T) {
	t.Parallel()
	const printed = "a\nb\n\nc\nd\nc\ne\n"
	for block, want := range map[string]string{
		"a b":           "",
		"b  c":          "",
		"a ... c ... e": "",
		"... e":         "",
		"a ...":         "",
		"a B":           `"B" is not printed`,
		"a c":           `the 2 lines from "a"`,
		"e ... a":       `the 1 lines from "a"`,
		"d ... c ... c": `the 1 lines from "c"`,
		"a ... x ... y": `"x" is not printed; "y" is not printed`,
	} {
		got := strings.Join(unprinted(strings.Split(block, " "), printed), "; ")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", block, got, want)
		}
	}
}

// firstHour has what the commands on docs/first-hour.md print that need no cluster.
type firstHour struct {
	dir string
	// detected are the outputs of site detect by the name of the file.
	detected map[string]string
}

// newFirstHour writes the site files of the page.
func newFirstHour(t *testing.T) firstHour {
	t.Helper()
	h := firstHour{dir: t.TempDir(), detected: map[string]string{}}
	for name, golden := range map[string]string{"eks.yaml": "eks-p5", "gke.yaml": "gke-a3-mega", "dgx.yaml": "dgx-h100"} {
		h.detected[name] = read(t, filepath.Join(root, "internal", "detect", "testdata", golden+".golden.yaml"))
	}
	for name, text := range map[string]string{
		"eks.yaml": h.detected["eks.yaml"],
		"gke.yaml": detecttest.Answered(t, h.detected["gke.yaml"], detecttest.Answers(map[string]string{
			"gpustack.queue": "gpus", "reach.prometheus.service": "gmp-system/frontend:9090", "telemetry.receiver": "on-call",
		})),
		"dgx.yaml": detecttest.Answered(t, h.detected["dgx.yaml"], detecttest.Answers(map[string]string{
			"profile": "h100-sxm-ndr400", "gpustack.queue": "gpus", "fabric.switches": "[leaf-01, leaf-02]", "fabric.links": "16", "fabric.hcas": `["mlx5_*", "^mlx5_[1278]"]`,
		})),
		"prod.yaml": strings.Replace(string(site.Example()), "    user: root\n", "    user: ops\n    become: sudo\n", 1),
	} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// output is what a command line prints; false for a command that needs a cluster or its hosts.
func (h firstHour) output(t *testing.T, line string) (printed string, ok bool) {
	t.Helper()
	words := strings.Fields(line)
	switch {
	case strings.HasPrefix(line, "site detect "):
		printed, ok = h.detected[words[2]]
		return printed, ok
	case words[0] == "site", words[0] == "plan", strings.HasPrefix(line, "accept rbac "), strings.HasPrefix(line, "accept sudoers "):
	default:
		return "", false
	}
	for i, word := range words {
		if strings.HasSuffix(word, ".yaml") {
			words[i] = filepath.Join(h.dir, word)
		}
	}
	var out bytes.Buffer
	cli.Main(t.Context(), words, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	return strings.ReplaceAll(out.String(), h.dir+string(filepath.Separator), ""), true
}

// TestFirstHour: the outputs on docs/first-hour.md that need no cluster are printed by the command above them, for the
// site files of internal/detect/testdata and of site init. Those of the lab are compared in internal/e2e.
func TestFirstHour(t *testing.T) {
	t.Parallel()
	h, seen, line := newFirstHour(t), 0, ""
	for _, b := range blocks(read(t, filepath.Join(root, "docs", "first-hour.md"))) {
		if !b.fenced {
			for _, text := range b.lines {
				for _, call := range calls(text) {
					line = call
				}
			}
			continue
		}
		printed, ok := h.output(t, line)
		if !ok {
			continue
		}
		seen++
		for _, problem := range unprinted(b.lines, printed) {
			t.Errorf("docs/first-hour.md:%d: firstlight %s: %s", b.line, line, problem)
		}
	}
	if seen < 15 {
		t.Errorf("only %d outputs were compared: the search is broken", seen)
	}
}
