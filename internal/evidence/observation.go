package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// stored is an observation's JSON file.
type stored struct {
	check.Observation
	// Attempt of the step that it belongs to.
	Attempt int `json:"attempt"`
	// RawFile is the output as it came; nil when there was none.
	RawFile *rawFile `json:"rawFile,omitempty"`
}

type rawFile struct {
	Name   string `json:"name"`
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

const maxIDPart = 48

// observationID names an observation and its files.
func observationID(seq int, o check.Observation) string {
	return fmt.Sprintf("%04d-%s-%s-%s", seq, idPart(o.Check), idPart(o.Kind), idPart(o.Target))
}

// idPart keeps what is safe in every file name.
func idPart(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		default:
			return '-'
		}
	}, s)
	if len(s) > maxIDPart {
		s = s[:maxIDPart]
	}
	if s == "" {
		return "none"
	}
	return s
}

// sequence reads the number back from an ID.
func sequence(id string) (int, bool) {
	number, _, ok := strings.Cut(id, "-")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n > 0
}

// sortIDs sorts in the order of recording.
func sortIDs(ids []string) {
	sort.Slice(ids, func(i, j int) bool {
		a, _ := sequence(ids[i])
		b, _ := sequence(ids[j])
		return a < b
	})
}

// writeObservation stores o under o.ID: the raw output comes first, so that
// there is never an observation without it.
func writeObservation(dir string, attempt int, o check.Observation) error {
	s := stored{Observation: o, Attempt: attempt}
	var files []file
	if len(o.Raw) > 0 {
		s.RawFile = &rawFile{Name: o.ID + ".raw", Size: len(o.Raw), SHA256: digest(o.Raw)}
		files = append(files, file{name: s.RawFile.Name, data: o.Raw})
	}
	f, err := encode(o.ID+".json", s)
	if err != nil {
		return err
	}
	return writeFiles(dir, append(files, f)...)
}

// readObservation reads one back, and holds the raw output against its digest.
func readObservation(dir, id string) (stored, error) {
	if _, ok := sequence(id); !ok || id != filepath.Base(id) {
		return stored{}, fmt.Errorf("%w: %q is no observation's ID", ErrCorrupt, id)
	}
	var s stored
	if err := readJSON(filepath.Join(dir, id+".json"), &s); err != nil {
		return stored{}, fmt.Errorf("observation %s: %w", id, err)
	}
	if s.ID != id {
		return stored{}, fmt.Errorf("%w: observation %s says it is %q", ErrCorrupt, id, s.ID)
	}
	if s.RawFile == nil {
		return s, nil
	}
	if s.RawFile.Name != id+".raw" {
		return stored{}, fmt.Errorf("%w: observation %s keeps its output in %q", ErrCorrupt, id, s.RawFile.Name)
	}
	raw, err := os.ReadFile(filepath.Join(dir, s.RawFile.Name))
	if err != nil {
		return stored{}, fmt.Errorf("observation %s: read its output: %w", id, err)
	}
	if len(raw) != s.RawFile.Size || digest(raw) != s.RawFile.SHA256 {
		return stored{}, fmt.Errorf("%w: %s was changed", ErrCorrupt, s.RawFile.Name)
	}
	s.Raw = raw
	return s, nil
}

// listObservations lists the IDs of whole observations in order, and the
// highest sequence number that any file has.
func listObservations(dir string) (ids []string, last int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, 0, fmt.Errorf("list the observations: %w", err)
	}
	for _, e := range entries {
		n, ok := sequence(e.Name())
		if !ok {
			continue
		}
		last = max(last, n)
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			ids = append(ids, id)
		}
	}
	sortIDs(ids)
	return ids, last, nil
}
