package corpus

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is one line of the corpus' index.
type entry struct{ file, origin, kind, expected string }

// reader reads an output of one kind of tool. It returns what this program read
// of it and what a plain reading of the text finds, as words that must be equal,
// or why the output is refused.
type reader func(text string) (got, want []string, refused error)

// readers are by the names that the index has for them.
func readers() map[string]reader {
	return map[string]reader{
		"smi": readSMI, "nvlink": readNVLinks, "trouble": readTrouble, "dcgm": readDCGM, "xid": readXID,
		"ibstat": readIBStat, "iblinkinfo": readIBLinkInfo, "ibqueryerrors": readIBQueryErrors, "ibdiagnet": readIBDiagnet, "sminfo": readSMInfo,
		"nccltests": readNCCLTests, "nccllog": readNCCLLog, "torchtitan": readTorchtitan, "megatron": readMegatron,
		"torchrun": readTorchrun, "vllm": readVLLM, "expo": readExposition,
	}
}

func index(t *testing.T) (dir string, entries []entry) {
	t.Helper()
	dir = os.Getenv("FIRSTLIGHT_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared", "corpus")
	}
	data, err := os.ReadFile(filepath.Join(dir, "INDEX.tsv"))
	if os.IsNotExist(err) {
		t.Skipf("skipped: no corpus of real outputs at %s: set FIRSTLIGHT_CORPUS to its directory", dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		fields := strings.Split(strings.TrimRight(line, "\r"), "\t")
		if len(fields) != 4 {
			t.Fatalf("line %d of the index has %d fields", i+2, len(fields))
		}
		entries = append(entries, entry{fields[0], fields[1], fields[2], fields[3]})
	}
	return dir, entries
}

// TestCorpus: every output is read as its text has it, or refused with a reason, and docs/tools.md has
// the counts, versions and reasons.
func TestCorpus(t *testing.T) {
	t.Parallel()
	dir, entries := index(t)
	byKind := readers()
	type count struct{ files, read, refused int }
	counts := map[string]*count{}
	var outcomes []outcome
	for kind := range byKind {
		counts[kind] = &count{}
	}
	for _, e := range entries {
		read, known := byKind[e.kind]
		if !known {
			t.Errorf("%s is of kind %q, which no reader is for", e.file, e.kind)
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.file))
		if err != nil {
			t.Error(err)
			continue
		}
		c := counts[e.kind]
		c.files++
		refused := hold(t, e, read, string(text))
		if refused == nil {
			c.read++
		} else {
			c.refused++
		}
		outcomes = append(outcomes, outcome{e, string(text), refused})
	}
	var table strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		c := counts[kind]
		fmt.Fprintf(&table, "\n%-14s %3d files, %3d read, %3d refused", kind, c.files, c.read, c.refused)
		if c.files == 0 || c.read == 0 {
			t.Errorf("%s: %d files, %d read: its reader was not tested", kind, c.files, c.read)
		}
	}
	t.Log(table.String())
	comparePage(t, outcomes)
}

// hold reads one output; it returns why it is refused.
func hold(t *testing.T, e entry, read reader, text string) error {
	t.Helper()
	got, want, refused := read(text)
	switch {
	case refused != nil && e.expected == "read":
		t.Errorf("%s (%s) is refused: %v", e.file, e.origin, refused)
	case refused == nil && e.expected == "refused":
		t.Errorf("%s (%s) is read: %v", e.file, e.origin, got)
	case refused != nil && strings.TrimSpace(refused.Error()) == "":
		t.Errorf("%s is refused without a reason", e.file)
	case refused == nil && len(got) == 0:
		t.Errorf("%s: nothing was read, and the reader did not refuse it", e.file)
	case refused == nil:
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (%s): - is in the text, + was read:\n%s", e.file, e.origin, diff)
		}
	}
	return refused
}

// TestTheIndexIsWhole: an output that the index leaves out would not be read.
func TestTheIndexIsWhole(t *testing.T) {
	t.Parallel()
	dir, entries := index(t)
	listed := map[string]bool{}
	for _, e := range entries {
		listed[filepath.FromSlash(e.file)] = true
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && strings.ContainsRune(name, filepath.Separator) && !listed[name] {
			t.Errorf("%s is not in the index", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if len(entries) == 0 {
		t.Error("the index is empty")
	}
}
