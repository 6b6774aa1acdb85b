package mutants

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed switch.go.txt
var switchSource string

// built is a package with all its mutants in test binaries.
type built struct {
	mutants []Mutant
	// binaries are test binaries, with the directory that each is run in.
	binaries []binary
	// refused is how many mutants did not compile.
	refused int
}

type binary struct{ file, dir string }

// list finds the mutants of a target without compiling them.
func list(ctx context.Context, root, dir string, target Target) ([]Mutant, error) {
	p, err := load(ctx, root, target.Package)
	if err != nil {
		return nil, err
	}
	return write(p, target, dir, nil)
}

// build makes every mutant of a target, and compiles its tests with them into dir.
func build(ctx context.Context, root, dir string, target Target) (built, error) {
	p, err := load(ctx, root, target.Package)
	if err != nil {
		return built{}, err
	}
	skip := map[int]bool{}
	for {
		found, err := write(p, target, dir, skip)
		if err != nil {
			return built{}, err
		}
		b := built{mutants: found, refused: len(skip)}
		text := ""
		for i, pkg := range append([]string{target.Package}, target.Tests...) {
			file := filepath.Join(dir, fmt.Sprintf("%d.test", i))
			_, err = goTool(ctx, root, "test", "-c", "-vet=off", "-gcflags=-e", "-overlay", filepath.Join(dir, "overlay.json"), "-o", file, pkg)
			if err != nil {
				text = err.Error()
				break
			}
			// Without test files there is no binary: tests of other packages cover the target.
			if _, err := os.Stat(file); err == nil {
				b.binaries = append(b.binaries, binary{file: file, dir: filepath.Join(root, pkg)})
			}
		}
		if text == "" && len(b.binaries) == 0 {
			return built{}, fmt.Errorf("no test files in %s", strings.Join(append([]string{target.Package}, target.Tests...), ", "))
		}
		if text == "" {
			return b, nil
		}
		if !refuse(text, found, skip) {
			return built{}, fmt.Errorf("compile the mutants of %s: %s", target.Package, text)
		}
	}
}

var compileError = regexp.MustCompile(`(?m)([^/\s]+\.go):(\d+):\d+: `)

// refuse adds the mutants on lines that do not compile to skip; false without such a mutant.
func refuse(text string, found []Mutant, skip map[int]bool) bool {
	more := false
	for _, m := range compileError.FindAllStringSubmatch(text, -1) {
		line, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		for _, f := range found {
			if f.File == m[1] && f.Line == line && !skip[f.id] {
				skip[f.id], more = true, true
			}
		}
	}
	return more
}

// write writes the files of a package with mutants, and the overlay that puts them in place.
func write(p *loaded, target Target, dir string, skip map[int]bool) ([]Mutant, error) {
	if pattern := target.unmatched(slices.Collect(maps.Keys(p.files))); pattern != "" {
		return nil, fmt.Errorf("targets.yaml: %s has no file %q", target.Package, pattern)
	}
	t := findTexts(p)
	next := 0
	var found []Mutant
	overlay := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if !target.has(name) {
			continue
		}
		e := &edits{}
		for _, d := range p.files[name].Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || t.function(fn) {
				continue
			}
			placer := &placer{texts: t, file: name, fn: fn, name: nameOf(fn), edits: e, skip: skip, next: &next}
			placer.function()
			found = append(found, placer.found...)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, e.apply(p.src[name]), 0o600); err != nil {
			return nil, fmt.Errorf("write mutants: %w", err)
		}
		overlay[filepath.Join(p.dir, name)] = file
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no mutants in %s", target.Package)
	}
	file := filepath.Join(dir, "switch.go")
	if err := os.WriteFile(file, []byte(strings.Replace(switchSource, "PACKAGE", p.types.Name(), 1)), 0o600); err != nil {
		return nil, fmt.Errorf("write mutants: %w", err)
	}
	overlay[filepath.Join(p.dir, "zz_mutants.go")] = file
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, fmt.Errorf("encode the overlay: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), data, 0o600); err != nil {
		return nil, fmt.Errorf("write the overlay: %w", err)
	}
	return found, nil
}

// nameOf is a function's name, or Type.Method.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	e := fn.Recv.List[0].Type
	for {
		switch r := e.(type) {
		case *ast.StarExpr:
			e = r.X
		case *ast.IndexExpr:
			e = r.X
		case *ast.Ident:
			return r.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}
