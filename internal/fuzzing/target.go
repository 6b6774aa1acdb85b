package fuzzing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Package is a package with fuzz targets.
type Package struct {
	Path, Dir string
	Targets   []string
}

// Packages returns the packages of the patterns that have fuzz targets; none is an error.
func Packages(ctx context.Context, root string, patterns []string) ([]Package, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "--"}, patterns...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	var found []Package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := d.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("list packages: %w", err)
		}
		p := Package{Path: listed.ImportPath, Dir: listed.Dir}
		for _, file := range slices.Concat(listed.TestGoFiles, listed.XTestGoFiles) {
			targets, err := targetsIn(filepath.Join(listed.Dir, file))
			if err != nil {
				return nil, err
			}
			p.Targets = append(p.Targets, targets...)
		}
		if len(p.Targets) > 0 {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no fuzz target in %s", strings.Join(patterns, " "))
	}
	return found, nil
}

// targetsIn returns the fuzz targets of a test file.
func targetsIn(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("list fuzz targets: %w", err)
	}
	var targets []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") {
			targets = append(targets, f.Name.Name)
		}
	}
	return targets, nil
}
