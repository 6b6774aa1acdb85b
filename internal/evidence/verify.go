package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"strings"
)

// Change says what is wrong with a file.
type Change string

// The changes.
const (
	Changed Change = "changed"
	Missing Change = "missing"
	Extra   Change = "extra"
	// NoManifest: the run is unfinished, or its manifest was removed.
	NoManifest Change = "no manifest"
)

// Problem is one file that is not as the manifest says.
type Problem struct {
	File   string `json:"file"`
	What   Change `json:"what"`
	Detail string `json:"detail,omitempty"`
}

// String is the problem as a line.
func (p Problem) String() string {
	if p.Detail == "" {
		return fmt.Sprintf("%s: %s", p.File, p.What)
	}
	return fmt.Sprintf("%s: %s (%s)", p.File, p.What, p.Detail)
}

// Problems are all of a run, sorted by file. None: the run is as it was written.
type Problems []Problem

// String is a line a problem.
func (ps Problems) String() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Verify holds every file of the run in dir against its manifest. The error is
// for what keeps it from looking at all.
func Verify(dir string) (Problems, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("verify: %s is no directory", dir)
	}
	m, err := readManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Problems{{File: manifestFile, What: NoManifest, Detail: "the run is unfinished, or its manifest was removed"}}, nil
	case errors.Is(err, ErrCorrupt):
		return Problems{{File: manifestFile, What: Changed, Detail: err.Error()}}, nil
	case err != nil:
		return nil, fmt.Errorf("verify: %w", err)
	}
	files, problems, err := hashFiles(dir)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	problems = append(problems, compareFiles(m.Files, files)...)
	sort.Slice(problems, func(i, j int) bool { return problems[i].File < problems[j].File })
	return problems, nil
}

// Digest is the one value that stands for the whole run in dir.
func Digest(dir string) (string, error) {
	m, err := readManifest(dir)
	return m.Digest, err
}

func compareFiles(want, have []ManifestFile) []Problem {
	var problems []Problem
	there := make(map[string]ManifestFile, len(have))
	for _, f := range have {
		there[f.Path] = f
	}
	for _, w := range want {
		h, ok := there[w.Path]
		delete(there, w.Path)
		switch {
		case !ok:
			problems = append(problems, Problem{File: w.Path, What: Missing})
		case h.Size != w.Size:
			problems = append(problems, Problem{File: w.Path, What: Changed, Detail: fmt.Sprintf("%d bytes, not %d", h.Size, w.Size)})
		case h.SHA256 != w.SHA256:
			problems = append(problems, Problem{File: w.Path, What: Changed, Detail: "its sha256 is another one"})
		}
	}
	for name := range there {
		problems = append(problems, Problem{File: name, What: Extra})
	}
	return problems
}
