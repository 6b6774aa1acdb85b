package evidence

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

func journalOf(t *testing.T, r *Run) (string, []byte) {
	t.Helper()
	path := filepath.Join(r.Dir(), journalFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

func TestATornLastLineIsDropped(t *testing.T) {
	t.Parallel()
	r := create(t, t.TempDir(), testPlan())
	if _, err := r.Begin("a", r.clock()); err != nil {
		t.Fatal(err)
	}
	if err := r.journal.close(); err != nil { // as a killed process would
		t.Fatal(err)
	}
	path, data := journalOf(t, r)
	lines := bytes.SplitAfter(data, []byte("\n"))
	for cut := len(data) - 1; cut > len(lines[0]); cut-- { // every length within the last line
		if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := Load(r.Dir())
		if err != nil || !b.Torn || len(b.Entries) != 1 {
			t.Fatalf("cut at %d: %+v, %v", cut, b, err)
		}
		again, err := Open(r.Dir(), testOptions())
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if attempt, err := again.Begin("a", again.clock()); err != nil || attempt != 1 {
			t.Fatalf("cut at %d: attempt %d, %v", cut, attempt, err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		if b, err := Load(r.Dir()); err != nil || b.Torn || len(b.Entries) != 4 {
			t.Fatalf("after resuming: %+v, %v", b, err)
		}
	}
}

// A run that was just closed was reported as written by another process: a process
// that was starting had a copy of the lock's descriptor.
func TestClosedRunIsFreeWhileProcessesStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var starting sync.WaitGroup
	for range 4 {
		starting.Go(func() {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, "true").Run() // that it starts is all it is for
			}
		})
	}
	defer starting.Wait()
	defer cancel()
	r := create(t, t.TempDir(), testPlan())
	for range 200 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		if r, err = Open(r.Dir(), testOptions()); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestParseJournal(t *testing.T) {
	t.Parallel()
	const one = `{"seq":1,"at":"2026-11-21T01:42:33Z","type":"created"}` + "\n"
	const two = `{"seq":2,"at":"2026-11-21T01:42:34Z","type":"begun","step":"a","attempt":1}` + "\n"
	for name, tt := range map[string]struct {
		data    string
		entries int
		torn    bool
		corrupt bool
	}{
		"empty":                     {"", 0, false, false},
		"whole":                     {one + two, 2, false, false},
		"torn":                      {one + two[:20], 1, true, false},
		"whole but for its end":     {one + two[:len(two)-1], 1, true, false},
		"last line of zeros":        {one + "\x00\x00\x00\n", 1, true, false},
		"rubbish in the middle":     {one + "rubbish\n" + two, 1, true, true},
		"a line is missing":         {two, 0, true, true},
		"a line twice":              {one + one, 1, true, true},
		"not a journal but of JSON": {"[1]\n{}\n", 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries, whole, err := parseJournal([]byte(tt.data))
			if len(entries) != tt.entries || (whole < len(tt.data)) != tt.torn || errors.Is(err, ErrCorrupt) != tt.corrupt {
				t.Errorf("%d entries, %d of %d bytes, %v", len(entries), whole, len(tt.data), err)
			}
		})
	}
}

func FuzzParseJournal(f *testing.F) {
	f.Add([]byte(`{"seq":1,"at":"2026-11-21T01:42:33Z","type":"created"}` + "\n"))
	f.Add([]byte(`{"seq":1,"type":"verdict","step":"a","result":{"verdict":"passed"}}` + "\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, whole, err := parseJournal(data)
		if whole > len(data) || bytes.Count(data[:whole], []byte("\n")) != len(entries) {
			t.Errorf("%d entries in %d bytes of %d", len(entries), whole, len(data))
		}
		if err == nil {
			again, length, err := parseJournal(data[:whole])
			if err != nil || length != whole || len(again) != len(entries) {
				t.Errorf("the complete part reads differently: %v", err)
			}
		}
	})
}

func TestACorruptRunIsNotOpened(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func([]byte) []byte{
		"journal in the middle": func(d []byte) []byte { return append([]byte("x"), d...) },
		"journal emptied":       func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := create(t, t.TempDir(), testPlan())
			if _, err := r.Begin("a", r.clock()); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			path, _ := journalOf(t, r)
			edit(t, path, change)
			if _, err := Open(r.Dir(), testOptions()); !errors.Is(err, ErrCorrupt) {
				t.Errorf("opened: %v", err)
			}
		})
	}
}

func TestAJournalStaysBrokenAfterAFailedWrite(t *testing.T) {
	t.Parallel()
	r := create(t, t.TempDir(), testPlan())
	if err := r.journal.f.Close(); err != nil {
		t.Fatal(err)
	}
	_, first := r.Begin("a", r.clock())
	_, second := r.Begin("a", r.clock())
	if first == nil || !errors.Is(second, first) {
		t.Errorf("%v, then %v", first, second)
	}
}
