package recipe

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// resolveFlags say which recipe is resolved, and how.
type resolveFlags struct {
	recipeFlags
	criteriaFlags
	file     string
	snapshot string
	profile  string
	set      []string
	explain  bool
}

func addResolveFlags(cmd *cobra.Command, f *resolveFlags) {
	addCriteriaFlags(cmd, &f.criteriaFlags)
	addRecipesFlag(cmd, &f.recipeFlags)
	addCompatFlag(cmd, &f.recipeFlags)
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "", "file of kind RecipeCriteria; - is standard input; flags override it")
	flags.StringVar(&f.snapshot, "snapshot", "", "file of kind Snapshot: overlays whose constraints it does not satisfy are left out")
	flags.StringVar(&f.profile, "profile", "", "value of the recipe's profile, as name=value")
	flags.StringArrayVar(&f.set, "set", nil, "value over all others, as component:path=value; may be repeated")
	flags.BoolVar(&f.explain, "explain", false, "say of each value which overlay or file set it, and where")
}

// options are what the flags come to, but for the criteria.
func (f *resolveFlags) options(s Streams) (resolve.Options, error) {
	o := resolve.Options{Compat: f.compat != "", Profile: f.profile, Explain: f.explain}
	for _, text := range f.set {
		a, err := resolve.ParseAssignment(text)
		if err != nil {
			return o, usage("--set: %w", err)
		}
		o.Set = append(o.Set, a)
	}
	if f.snapshot != "" {
		data, err := readFile(s, f.snapshot)
		if err != nil {
			return o, err
		}
		if o.Snapshot, err = constraint.ParseSnapshot(f.snapshot, data); err != nil {
			return o, usage("%w", err)
		}
	}
	return o, nil
}

// run resolves what the arguments and flags ask for.
func (f *resolveFlags) run(s Streams, refs []string) (*resolve.Result, error) {
	t, err := f.open(s)
	if err != nil {
		return nil, err
	}
	o, err := f.options(s)
	if err != nil {
		return nil, err
	}
	q, err := f.query(s, t, refs)
	if err != nil {
		return nil, err
	}
	r, err := resolved(resolve.Resolve(t, q, o))
	if err != nil {
		return nil, err
	}
	for _, w := range r.Warnings {
		fmt.Fprintln(s.Err, "firstlight: "+w.Message)
	}
	return r, nil
}

func (f *resolveFlags) query(s Streams, t *tree.Tree, refs []string) (criteria.Criteria, error) {
	var q criteria.Criteria
	switch {
	case len(refs) > 0 && f.file != "":
		return q, usage("a recipe and --file were given: keep one")
	case len(refs) > 0:
		n, err := parseRecipe(t, refs[0])
		if err != nil {
			return q, err
		}
		if n.file != "" {
			return q, usage("%s is a file: --file reads criteria", n.file)
		}
		q = n.criteria
	case f.file != "":
		var err error
		if q, err = readCriteria(s, f.file); err != nil {
			return q, err
		}
	}
	q, err := f.over(q)
	switch {
	case err != nil || q.Normal() != (criteria.Criteria{}):
		return q, err
	case f.snapshot != "":
		return q, usage("nothing is asked for: a snapshot does not state criteria, it only leaves overlays out; add for example --service eks --accelerator h100")
	default:
		return q, usage("nothing is asked for: name a recipe, or state criteria, for example --service eks --accelerator h100")
	}
}

// explained is the -o json form of resolve --explain.
type explained struct {
	Recipe   *model.Recipe   `json:"recipe"`
	Digest   string          `json:"digest"`
	Values   []resolve.Value `json:"values"`
	Inputs   []resolve.Input `json:"inputs"`
	Warnings diag.List       `json:"warnings"`
}

func newRecipeResolve(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resolve [RECIPE]",
		Short: "Print the recipe for criteria, and why each value is what it is",
		Long: `resolve merges the overlays that the criteria match, and those that they are based
on, onto the root: the less specific first, then those nearer to the root, then by name.
Something that is stated and that no overlay carries is an error that lists what there is.

-o yaml and -o json print it as kind RecipeResult; with --explain an object that also
has its digest, each value with what set it, and every file that it is made of.`,
		Example: `  firstlight recipe resolve --service eks --accelerator h100 --os amazonlinux --intent training
  firstlight recipe resolve h100-eks-amazonlinux-training --explain
  firstlight recipe resolve --file criteria.yaml --snapshot snapshot.yaml -o yaml > recipe.yaml
  firstlight recipe resolve --recipes ../aicr/recipes --compat aicr --service eks`,
		Args: cobra.MaximumNArgs(1),
	}
	var f resolveFlags
	addResolveFlags(cmd, &f)
	out := addOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		r, err := f.run(s, args)
		if err != nil {
			return err
		}
		r.Metadata.Version = version
		e := explained{Recipe: r.Recipe, Inputs: r.Inputs(), Warnings: append(diag.List{}, r.Warnings...)}
		if e.Digest, err = r.Digest(); err != nil {
			return usage("%w", err)
		}
		if !f.explain {
			return out.write(s.Out, r.Recipe, func(w io.Writer) error { return printRecipe(w, r, e.Digest) })
		}
		if e.Values, err = r.Explain(nil); err != nil {
			return usage("%w", err)
		}
		return out.write(s.Out, e, func(w io.Writer) error {
			if err := printRecipe(w, r, e.Digest); err != nil {
				return err
			}
			return printExplained(w, e.Values, e.Inputs)
		})
	}
	return cmd
}
