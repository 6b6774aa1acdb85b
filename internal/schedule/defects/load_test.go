package defects_test

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/recipes"
)

//go:embed testdata/*.yaml
var data embed.FS

// defect is an entry of testdata; doc.go describes its keys.
type defect struct {
	Name   string   `yaml:"name"`
	About  string   `yaml:"about"`
	Edits  []edit   `yaml:"edits"`
	Lint   []said   `yaml:"lint"`
	Test   *outcome `yaml:"test"`
	Spares string   `yaml:"spares"`
}

type edit struct {
	File   string `yaml:"file"`
	Old    string `yaml:"old"`
	New    string `yaml:"new"`
	Remove bool   `yaml:"remove"`
}

type said struct {
	Rule string `yaml:"rule"`
	File string `yaml:"file"`
	Line string `yaml:"line"`
	Says string `yaml:"says"`
	// Whole: the problem has a file and no line.
	Whole bool `yaml:"whole"`
}

type outcome struct {
	Recipe  string  `yaml:"recipe"`
	Suspect pattern `yaml:"suspect"`
	Reason  pattern `yaml:"reason"`
	Also    pattern `yaml:"also"`
}

type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalYAML(n *yaml.Node) error {
	re, err := regexp.Compile(n.Value)
	p.Regexp = re
	return err
}

func (p pattern) matches(text string) bool { return p.Regexp != nil && p.MatchString(text) }

// fewest is how many defects there have to be.
const fewest = 30

// all reads every defect; an unknown field is an error.
func all(t *testing.T) []defect {
	t.Helper()
	files, err := fs.Glob(data, "testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no data: %v", err)
	}
	var out []defect
	for _, name := range files {
		text, err := data.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var list []defect
		dec := yaml.NewDecoder(bytes.NewReader(text))
		dec.KnownFields(true)
		if err := dec.Decode(&list); err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, list...)
	}
	if len(out) < fewest {
		t.Fatalf("%d defects, %d are promised", len(out), fewest)
	}
	slices.SortFunc(out, func(a, b defect) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// change is what an edit did: the first and last line of what is new in the file.
type change struct {
	file        string
	first, last int
}

// apply puts a defect's edits into a copy of the tree.
func (d *defect) apply() (fstest.MapFS, []change, error) {
	tree := recipetest.Copy(recipes.FS)
	var changes []change
	for _, e := range d.Edits {
		f, ok := tree[e.File]
		if !ok {
			return nil, nil, fmt.Errorf("there is no %s", e.File)
		}
		if e.Remove {
			delete(tree, e.File)
			continue
		}
		text := string(f.Data)
		if n := strings.Count(text, e.Old); e.Old == "" || n != 1 {
			return nil, nil, fmt.Errorf("%s has this %d times, and not once:\n%s", e.File, n, e.Old)
		}
		before, after, _ := strings.Cut(text, e.Old)
		tree[e.File] = &fstest.MapFile{Data: []byte(before + e.New + after), Mode: f.Mode}
		first := 1 + strings.Count(before, "\n")
		changes = append(changes, change{file: e.File, first: first, last: first + strings.Count(strings.TrimSuffix(e.New, "\n"), "\n")})
	}
	return tree, changes, nil
}
