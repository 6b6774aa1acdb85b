package schema

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// comments has the comments of types and fields, by Type and Type.Field.
type comments map[string]string

// read adds the comments of the Go files in a directory.
func (c comments) read(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read format sources: %w", err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return fmt.Errorf("read format sources: %w", err)
		}
		c.file(file)
	}
	return nil
}

func (c comments) file(file *ast.File) {
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.TYPE {
			continue
		}
		for _, spec := range group.Specs {
			t, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			doc := cmp.Or(t.Doc, group.Doc)
			c[t.Name.Name] = clean(doc)
			if s, ok := t.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, name := range f.Names {
						c[t.Name.Name+"."+name.Name] = clean(f.Doc)
					}
				}
			}
		}
	}
}

// clean joins a comment into one line.
func clean(doc *ast.CommentGroup) string {
	return strings.Join(strings.Fields(doc.Text()), " ")
}

func (c comments) of(t reflect.Type) string { return c[t.Name()] }

// field is the comment of a field, or of an embedded struct's field.
func (c comments) field(owner reflect.Type, index []int) string {
	for _, i := range index[:len(index)-1] {
		owner = owner.Field(i).Type
	}
	return c[owner.Name()+"."+owner.Field(index[len(index)-1]).Name]
}
