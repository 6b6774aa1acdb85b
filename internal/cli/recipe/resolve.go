package recipe

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/recipe/constraint"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

type resolveFlags struct {
	cmdutil.RecipeFlags
	criteriaFlags
	file     string
	snapshot string
	profile  string
	set      []string
	explain  bool
}

func addResolveFlags(cmd *cobra.Command, f *resolveFlags) {
	addCriteriaFlags(cmd, &f.criteriaFlags)
	f.Add(cmd)
	f.AddCompat(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.file, "file", "", "file of kind RecipeCriteria (-: standard input); flags override it")
	flags.StringVar(&f.snapshot, "snapshot", "", "file of kind Snapshot; overlays whose constraints it does not satisfy are left out")
	flags.StringVar(&f.profile, "profile", "", "value of the recipe's profile, as name=value")
	flags.StringArrayVar(&f.set, "set", nil, "override of a value, as component:path=value (repeatable)")
	flags.BoolVar(&f.explain, "explain", false, "print the overlay or file that sets each value")
}

// options has all flags but the criteria.
func (f *resolveFlags) options(s cmdutil.Streams) (resolve.Options, error) {
	o := resolve.Options{Compat: f.Compat != "", Profile: f.profile, Explain: f.explain}
	for _, text := range f.set {
		a, err := resolve.ParseAssignment(text)
		if err != nil {
			return o, cmdutil.UsageErrorf("--set: %w", err)
		}
		o.Set = append(o.Set, a)
	}
	if f.snapshot != "" {
		data, err := cmdutil.ReadFile(s, f.snapshot)
		if err != nil {
			return o, err
		}
		if o.Snapshot, err = constraint.ParseSnapshot(f.snapshot, data); err != nil {
			return o, cmdutil.UsageErrorf("%w", err)
		}
	}
	return o, nil
}

// run resolves the recipe of the arguments and flags.
func (f *resolveFlags) run(s cmdutil.Streams, refs []string) (*resolve.Result, error) {
	t, err := f.Open(s)
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
	r, err := cmdutil.Resolved(resolve.Resolve(t, q, o))
	if err != nil {
		return nil, err
	}
	for _, w := range r.Warnings {
		fmt.Fprintln(s.Err, "firstlight: "+w.Message)
	}
	return r, nil
}

func (f *resolveFlags) query(s cmdutil.Streams, t *tree.Tree, refs []string) (criteria.Criteria, error) {
	var q criteria.Criteria
	switch {
	case len(refs) > 0 && f.file != "":
		return q, cmdutil.UsageErrorf("RECIPE and --file are mutually exclusive")
	case len(refs) > 0:
		n, err := cmdutil.ParseRecipe(t, refs[0])
		if err != nil {
			return q, err
		}
		if n.File != "" {
			return q, cmdutil.UsageErrorf("%s is a file: use --file for a file with criteria", n.File)
		}
		q = n.Criteria
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
		return q, cmdutil.UsageErrorf("no criteria given: a snapshot only leaves overlays out; add for example --service eks --accelerator h100")
	default:
		return q, cmdutil.UsageErrorf("no criteria given: name a recipe, or give for example --service eks --accelerator h100")
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

func newResolve(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resolve [RECIPE]",
		Short: "Print the recipe for criteria, with the source of each value",
		Long: `Merge the overlays that match the criteria, and their bases, onto the root: less specific
ones first, then those nearer to the root, then by name. A criterion that no overlay has is
an error that lists the known values.

-o yaml and -o json print kind RecipeResult. With --explain they print an object with the
recipe, its digest, each value with its source, and every file that it is made of.`,
		Example: `  firstlight recipe resolve --service eks --accelerator h100 --os amazonlinux --intent training
  firstlight recipe resolve h100-eks-amazonlinux-training --explain
  firstlight recipe resolve --file criteria.yaml --snapshot snapshot.yaml -o yaml > recipe.yaml
  firstlight recipe resolve --recipes ../aicr/recipes --compat aicr --service eks`,
		Args: cobra.MaximumNArgs(1),
	}
	var f resolveFlags
	addResolveFlags(cmd, &f)
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		r, err := f.run(s, args)
		if err != nil {
			return err
		}
		r.Metadata.Version = cmdutil.Version
		e := explained{Recipe: r.Recipe, Inputs: r.Inputs(), Warnings: append(diag.List{}, r.Warnings...)}
		if e.Digest, err = r.Digest(); err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		if !f.explain {
			return out.Write(s.Out, r.Recipe, func(w io.Writer) { printRecipe(w, r, e.Digest) })
		}
		if e.Values, err = r.Explain(nil); err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		return out.Write(s.Out, e, func(w io.Writer) {
			printRecipe(w, r, e.Digest)
			printExplained(w, e.Values, e.Inputs)
		})
	}
	return cmd
}

func readCriteria(s cmdutil.Streams, file string) (criteria.Criteria, error) {
	data, err := cmdutil.ReadFile(s, file)
	if err != nil {
		return criteria.Criteria{}, err
	}
	q, err := resolve.ParseCriteria(file, data)
	if err != nil {
		return q, cmdutil.UsageErrorf("%w", err)
	}
	return q, nil
}
