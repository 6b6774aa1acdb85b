package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// loaded is a package with its types.
type loaded struct {
	path  string // import path
	dir   string
	fset  *token.FileSet
	files map[string]*ast.File // by name
	src   map[string][]byte
	types *types.Package
	info  *types.Info
}

// listed is a row of go list.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Export     string
	DepOnly    bool
}

// load type-checks the package of a pattern, in the module at root.
func load(ctx context.Context, root, pattern string) (*loaded, error) {
	list, err := goTool(ctx, root, "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,DepOnly", pattern)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var target listed
	for dec := json.NewDecoder(strings.NewReader(list)); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the packages that %s needs: %w", pattern, err)
		}
		exports[l.ImportPath] = l.Export
		if !l.DepOnly {
			target = l
		}
	}
	p := &loaded{path: target.ImportPath, dir: target.Dir, fset: token.NewFileSet(), files: map[string]*ast.File{}, src: map[string][]byte{}}
	var parsed []*ast.File
	for _, name := range target.GoFiles {
		file := filepath.Join(p.dir, name)
		if p.src[name], err = os.ReadFile(file); err != nil {
			return nil, fmt.Errorf("read %s: %w", pattern, err)
		}
		if p.files[name], err = parser.ParseFile(p.fset, file, p.src[name], parser.SkipObjectResolution); err != nil {
			return nil, fmt.Errorf("parse %s: %w", pattern, err)
		}
		parsed = append(parsed, p.files[name])
	}
	p.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	if p.types, err = conf.Check(p.path, p.fset, parsed, p.info); err != nil {
		return nil, fmt.Errorf("check the types of %s: %w", pattern, err)
	}
	return p, nil
}

// goTool runs the go command and returns its output; the error includes stderr.
func goTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("go %s: %w\n%s", args[0], err, exit.Stderr)
		}
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(out), nil
}

// offset is a position in its file.
func (p *loaded) offset(pos token.Pos) int { return p.fset.Position(pos).Offset }

// text is the source of a node, on one line.
func (p *loaded) text(file string, n ast.Node) string {
	return string(p.src[file][p.offset(n.Pos()):p.offset(n.End())])
}
