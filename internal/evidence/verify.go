package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"strings"
)

// Change is the kind of a Problem.
type Change string

// The kinds.
const (
	Changed Change = "changed"
	Missing Change = "missing"
	Extra   Change = "extra"
	// NoManifest: the run is unfinished or its manifest was removed.
	NoManifest Change = "no manifest"
)

// Problem is one file that differs from the manifest.
type Problem struct {
	File   string `json:"file"`
	What   Change `json:"what"`
	Detail string `json:"detail,omitempty"`
}

func (p Problem) String() string {
	if p.Detail == "" {
		return fmt.Sprintf("%s: %s", p.File, p.What)
	}
	return fmt.Sprintf("%s: %s (%s)", p.File, p.What, p.Detail)
}

// Problems are the problems of a run, sorted by file. Empty: the run is unchanged.
type Problems []Problem

// String has one line per problem.
func (ps Problems) String() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Verify compares the files of the run in dir with its manifest. The error is for files that
// cannot be read.
func Verify(dir string) (Problems, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("verify: %s is not a directory", dir)
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

func compareFiles(want, have []ManifestFile) []Problem {
	var problems []Problem
	existing := make(map[string]ManifestFile, len(have))
	for _, f := range have {
		existing[f.Path] = f
	}
	for _, w := range want {
		h, ok := existing[w.Path]
		delete(existing, w.Path)
		switch {
		case !ok:
			problems = append(problems, Problem{File: w.Path, What: Missing})
		case h.Size != w.Size:
			problems = append(problems, Problem{File: w.Path, What: Changed, Detail: fmt.Sprintf("%d bytes, not %d", h.Size, w.Size)})
		case h.SHA256 != w.SHA256:
			problems = append(problems, Problem{File: w.Path, What: Changed, Detail: "sha256 differs"})
		}
	}
	for name := range existing {
		problems = append(problems, Problem{File: name, What: Extra})
	}
	return problems
}
