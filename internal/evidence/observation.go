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

// stored is the JSON file of an observation.
type stored struct {
	check.Observation
	// Attempt is the attempt of the step.
	Attempt int `json:"attempt"`
	// RawFile is the raw output; nil if empty.
	RawFile *rawFile `json:"rawFile,omitempty"`
}

type rawFile struct {
	Name   string `json:"name"`
	Size   int    `json:"size"`
	SHA256 string `json:"sha256"`
}

const maxIDPart = 48

// observationID is the ID and file name of an observation.
func observationID(seq int, o check.Observation) string {
	return fmt.Sprintf("%04d-%s-%s-%s", seq, idPart(o.Check), idPart(o.Kind), idPart(o.Target))
}

// idPart replaces characters that are not safe in file names.
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

// sequence is the number in an ID.
func sequence(id string) (int, bool) {
	number, _, ok := strings.Cut(id, "-")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	return n, err == nil && n > 0
}

// sortIDs sorts by sequence number.
func sortIDs(ids []string) {
	sort.Slice(ids, func(i, j int) bool {
		a, _ := sequence(ids[i])
		b, _ := sequence(ids[j])
		return a < b
	})
}

// writeObservation stores o under o.ID. It writes the raw output first, so that no observation
// lacks it after a crash.
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

// readObservation reads an observation and checks the digest of its raw output.
func readObservation(dir, id string) (stored, error) {
	if _, ok := sequence(id); !ok || id != filepath.Base(id) {
		return stored{}, fmt.Errorf("%w: invalid observation ID %q", ErrCorrupt, id)
	}
	var s stored
	if err := readJSON(filepath.Join(dir, id+".json"), &s); err != nil {
		return stored{}, fmt.Errorf("observation %s: %w", id, err)
	}
	if s.ID != id {
		return stored{}, fmt.Errorf("%w: observation %s has the ID %q", ErrCorrupt, id, s.ID)
	}
	if s.RawFile == nil {
		return s, nil
	}
	if s.RawFile.Name != id+".raw" {
		return stored{}, fmt.Errorf("%w: observation %s has its output in %q", ErrCorrupt, id, s.RawFile.Name)
	}
	raw, err := ReadFile(filepath.Join(dir, s.RawFile.Name))
	if err != nil {
		return stored{}, fmt.Errorf("observation %s: read the output: %w", id, err)
	}
	if len(raw) != s.RawFile.Size || digest(raw) != s.RawFile.SHA256 {
		return stored{}, fmt.Errorf("%w: %s was changed", ErrCorrupt, s.RawFile.Name)
	}
	s.Raw = raw
	return s, nil
}

// listObservations lists the IDs of complete observations in order, and the highest sequence
// number of any file.
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
