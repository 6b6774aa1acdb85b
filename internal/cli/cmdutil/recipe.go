package cmdutil

import (
	"io"
	"os"
	"strings"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// maxInput bounds what is read from standard input.
const maxInput = 8 << 20

func readAll(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil {
		return nil, usage("read standard input: %w", err)
	}
	return data, nil
}

// named is what a RECIPE argument names: criteria, or a recipe in a file.
type named struct {
	criteria criteria.Criteria
	file     string
}

// parseRecipe reads a RECIPE argument: the name of an overlay, criteria, or a file.
func parseRecipe(t *tree.Tree, ref string) (named, error) {
	if o, ok := t.Overlay(ref); ok {
		if !o.Applies || o.Criteria.Specificity() == 0 {
			return named{}, usage("overlay %s states no criteria: it is part of recipes, and none by itself", ref)
		}
		return named{criteria: o.Criteria}, nil
	}
	if info, err := os.Stat(ref); err == nil && info.Mode().IsRegular() {
		return named{file: ref}, nil
	}
	if strings.Contains(ref, "=") {
		q, err := criteria.Parse(ref)
		if err != nil {
			return named{}, usage("%w", err)
		}
		return named{criteria: q}, nil
	}
	var names []string
	for _, o := range t.Recipes() {
		names = append(names, o.Name)
	}
	if near := diag.Nearest(ref, names); near != "" {
		return named{}, usage("there is no recipe %q: did you mean %s?", ref, near)
	}
	return named{}, usage("there is no recipe %q: firstlight recipe list shows the %d that there are", ref, len(names))
}

// resolve makes the recipe that is named.
func (n named) resolve(t *tree.Tree, o resolve.Options) (*resolve.Result, error) {
	if n.file == "" {
		return resolved(resolve.Resolve(t, n.criteria, o))
	}
	data, err := os.ReadFile(n.file)
	if err != nil {
		return nil, usage("read recipe: %w", err)
	}
	return resolved(resolve.Load(t, n.file, data))
}

// readCriteria reads a file of criteria.
func readCriteria(s Streams, file string) (criteria.Criteria, error) {
	data, err := readFile(s, file)
	if err != nil {
		return criteria.Criteria{}, err
	}
	q, err := resolve.ParseCriteria(file, data)
	if err != nil {
		return q, usage("%w", err)
	}
	return q, nil
}
