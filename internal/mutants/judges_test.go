package mutants

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// judgesNot are files with a function of that name that decide nothing, with the reason.
var judgesNot = map[string]string{
	"internal/evidence/evidencetest/run.go":                 "part of tests",
	"internal/conformance/submission/submissiontest/run.go": "part of tests",
	"internal/mutants/testdata/tiny/tiny.go":                "part of tests",
	"internal/gate/collective/srun.go":                      "calls the judge of the gate",
	"internal/gate/inference/sbatch.go":                     "calls the judge of the gate",
	"internal/gate/training/sbatch.go":                      "calls the judge of the gate",
}

var judgeName = regexp.MustCompile(`^Judge([A-Z]|$)`)

// TestEveryJudgeIsMutated requires that each file with a function named Judge, or Judge and a word, is of a target.
func TestEveryJudgeIsMutated(t *testing.T) {
	t.Parallel()
	targets, err := ReadTargets("targets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	used := map[string]bool{}
	err = filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil || !judges(parsed) {
			return err
		}
		found++
		name := path.Join("internal", strings.TrimPrefix(filepath.ToSlash(file), "../"))
		used[name] = true
		if judgesNot[name] == "" && !mutated(targets, name) {
			t.Errorf("%s judges, and no target of targets.yaml has it", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 50 {
		t.Errorf("only %d files that judge were found", found)
	}
	for name := range judgesNot {
		if !used[name] {
			t.Errorf("%s is exempt and has no function of that name", name)
		}
	}
}

func TestJudgesAreFoundByName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"func (g *Gate) Judge(obs []int) int { return 0 }": true,
		"func JudgeWave(obs []int) {}":                     true,
		"func Judges() {}":                                 false,
		"func (b *Builder) Judgement() {}":                 false,
		"func judge() {}":                                  false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\n"+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := judges(file); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	targets := Targets{Targets: []Target{{Package: "./internal/a", Files: []string{"judge*.go"}}, {Package: "./internal/b"}}}
	for name, want := range map[string]bool{"internal/a/judge_b.go": true, "internal/a/gate.go": false, "internal/b/gate.go": true, "internal/b/c/gate.go": false} {
		if got := mutated(targets, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func judges(file *ast.File) bool {
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && judgeName.MatchString(fn.Name.Name)
	})
}

func mutated(targets Targets, name string) bool {
	return slices.ContainsFunc(targets.Targets, func(t Target) bool {
		return path.Clean(t.Package) == path.Dir(name) && t.has(path.Base(name))
	})
}
