package validate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/cli/report"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/install"
	"github.com/firstlight/firstlight/internal/pipeline"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/nodeprofile"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/validate"
)

// boardSteps is the title of the board's group of steps.
const boardSteps = "steps"

// defaultVersion is the newest version of the conformance program whose Kubernetes
// release is out.
const defaultVersion = "1.36"

type validateFlags struct {
	target        cmdutil.TargetFlags
	recipes       cmdutil.RecipeFlags
	intent        string
	recipe        string
	profile       string
	version       string
	order         []string
	step, from    string
	until         string
	fresh, keep   bool
	resume        string
	disruptive    bool
	notApplicable []string
	evidence      string
	artifacts     string
	verbose       *bool
	out           *cmdutil.Output
}

func (f *validateFlags) add(cmd *cobra.Command) {
	f.target.Add(cmd)
	addIntentFlag(cmd, &f.intent)
	f.recipes.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.recipe, "recipe", "", "recipe of the cluster: a name, criteria, or a file (default on the lab: that of the intent for kind)")
	flags.StringVar(&f.profile, "recipe-profile", "", "value of the recipe's profile, as name=value")
	flags.StringVar(&f.version, "conformance", defaultVersion, "version of the conformance program: "+strings.Join(catalog.Versions(), ", "))
	flags.StringSliceVar(&f.order, "order", nil, "order of the steps, proved before the run (default: derive one)")
	flags.StringVar(&f.step, "step", "", "run this step or requirement alone")
	flags.StringVar(&f.from, "from", "", "run from this step or requirement on; earlier verdicts of the last run are kept")
	flags.StringVar(&f.until, "until", "", "stop after this step and leave the run to be resumed; the exit code is that of the step")
	flags.StringVar(&f.resume, "resume", "", "resume this unfinished run (ID or latest)")
	flags.BoolVar(&f.fresh, "fresh", false, "begin a new run even if an unfinished one exists")
	flags.BoolVar(&f.keep, "keep", false, "keep the created objects for inspection")
	flags.BoolVar(&f.disruptive, "disruptive", false, "allow checks that disturb a cluster in use, such as killing an operator's controller (always allowed on the lab)")
	flags.StringArrayVar(&f.notApplicable, "not-applicable", nil, "requirement that the platform does not offer, as ID=REASON (repeatable)")
	flags.StringVar(&f.evidence, "evidence", "evidence", "directory of the runs")
	flags.StringVar(&f.artifacts, "artifacts", "", "new or empty directory for the artifacts (default: artifacts/RUN)")
	cmd.MarkFlagsMutuallyExclusive("resume", "fresh", "from", "step")
	cmd.MarkFlagsMutuallyExclusive("until", "step")
}

// parseNotApplicable reads --not-applicable: the reason of each requirement.
func (f *validateFlags) parseNotApplicable() (map[string]string, error) {
	out := map[string]string{}
	for _, text := range f.notApplicable {
		id, reason, ok := strings.Cut(text, "=")
		if !ok || id == "" || strings.TrimSpace(reason) == "" {
			return nil, cmdutil.UsageErrorf("invalid --not-applicable %q: must be ID=REASON, such as cluster_autoscaling='nodes are bought'", text)
		}
		out[id] = strings.TrimSpace(reason)
	}
	return out, nil
}

func (f *validateFlags) onLab() bool { return f.target.OnLab() }

// labExtras are the extras that the checks need of a lab.
func labExtras() []string {
	return []string{component.ExtraAdapter, component.ExtraGateway, component.ExtraKarpenter, component.ExtraTrainer}
}

func (f *validateFlags) validate() error {
	if _, err := pipeline.ParseIntent(f.intent); err != nil {
		return cmdutil.UsageErrorf("--intent: %w", err)
	}
	if err := f.target.Validate(); err != nil {
		return err
	}
	if !slices.Contains(catalog.Versions(), f.version) {
		return cmdutil.UsageErrorf("unknown --conformance %q: want one of %s", f.version, strings.Join(catalog.Versions(), ", "))
	}
	if f.recipe == "" && !f.onLab() {
		return cmdutil.UsageErrorf("--site needs --recipe: the recipe declares the components of the cluster (firstlight recipe list)")
	}
	_, err := f.parseNotApplicable()
	return err
}

func (f *validateFlags) run(ctx context.Context, s cmdutil.Streams) (err error) {
	if err := f.validate(); err != nil {
		return err
	}
	recipes, err := f.recipes.Open(s)
	if err != nil {
		return err
	}
	board := cmdutil.NewBoard(s.Err)
	closeBoard := sync.OnceFunc(board.Close)
	defer closeBoard()
	var extras []string
	if f.onLab() {
		extras = labExtras()
	}
	t, err := f.target.Open(ctx, board, extras...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmdutil.Unobserved(t.Close(ctx))) }()
	if err := f.podReferences(t.Site); err != nil {
		return err
	}

	c, r, err := f.newCase(recipes, t)
	if err != nil {
		return err
	}
	o, err := f.options(t, c, r, board)
	if err != nil {
		return err
	}
	return cmdutil.Run(ctx, o, closeBoard, func(accepted accept.Report, runErr error) (check.Verdict, error) {
		validation, err := f.report(c, accepted, runErr)
		writeErr := f.out.Write(s.Out, validation, func(w io.Writer) { report.Validation(w, validation, report.OptionsFor(s.Out, f.verbose)) })
		return validation.Verdict, errors.Join(err, writeErr)
	})
}

// podReferences refuses a run whose test of the intent has pods that refer to objects of a namespace: the run creates its own.
func (f *validateFlags) podReferences(s *site.Site) error {
	if f.intent == string(pipeline.Conformance) || f.step != "" && f.step != f.intent || f.resume != "" {
		return nil // no such pods
	}
	refs := s.PodReferences([]string{f.intent})
	if len(refs) == 0 {
		return nil
	}
	return cmdutil.UsageErrorf("the pods of step intent refer to %s, and the run creates its own namespace: validate with --intent conformance, and run firstlight accept --only %s with the --namespace that has them",
		strings.Join(refs, ", "), f.intent)
}

// newCase is what the target is validated against: recipe, order and program version.
func (f *validateFlags) newCase(recipes *tree.Tree, t *cmdutil.Target) (validate.Case, *resolve.Result, error) {
	intent, err := pipeline.ParseIntent(f.intent)
	if err != nil {
		return validate.Case{}, nil, cmdutil.UsageErrorf("--intent: %w", err)
	}
	name, r, err := f.resolve(recipes, string(intent), t)
	if err != nil {
		return validate.Case{}, nil, err
	}
	order, err := orderFor(intent, cmdutil.GPUs(t.Site, t.Profile), f.order)
	if err != nil {
		return validate.Case{}, nil, err
	}
	c, err := validate.Of(name, r, t.Site, t.Profile, order)
	if err != nil {
		return validate.Case{}, nil, cmdutil.UsageErrorf("%w", err)
	}
	c.Version, c.Disruptive = f.version, f.disruptive || f.onLab()
	c.NotApplicable, err = f.parseNotApplicable()
	return c, r, err
}

// report is the report of a run. A run of all steps that was not interrupted also gets its artifacts.
func (f *validateFlags) report(c validate.Case, accepted accept.Report, runErr error) (validate.Report, error) {
	r, err := c.Report(accepted)
	switch {
	case err != nil || runErr != nil || f.step != "" || accepted.Interrupted: // the run can be resumed, and its artifacts are collected then
		return r, err
	case f.until != "":
		return r.Through(f.until)
	}
	dir := cmp.Or(f.artifacts, filepath.Join("artifacts", accepted.Run))
	return validate.Collect(r, c, dir)
}

func (f *validateFlags) options(t *cmdutil.Target, c validate.Case, r *resolve.Result, board *display.Board) (accept.Options, error) {
	none := accept.Options{}
	input, err := c.Encode()
	if err != nil {
		return none, cmdutil.Unobserved(err)
	}
	recipe, err := r.Document()
	if err != nil {
		return none, cmdutil.Unobserved(err)
	}
	recipeFile, err := yaml.Marshal(recipe)
	if err != nil {
		return none, cmdutil.Unobserved(err)
	}
	planned, err := c.Plan(t.Site, t.Profile, conformance.Deps{})
	if err != nil {
		return none, cmdutil.UsageErrorf("%w", err)
	}
	for _, step := range planned.Steps {
		board.Set(boardSteps, step.Name(), display.Waiting, "")
	}
	recommended, err := validate.Recommended(c.Version)
	if err != nil {
		return none, cmdutil.UsageErrorf("%w", err)
	}
	until, err := c.Last(f.until)
	if err != nil {
		return none, cmdutil.UsageErrorf("--until: %w", err)
	}
	o := t.RunOptions(board)
	if f.onLab() {
		o.Cluster = withComponents(t.Cluster, r, board)
	}
	kill := killer(t.Lab)
	o.Recipe, o.RecipeFile, o.Inputs = c.Recipe, recipeFile, map[string][]byte{validate.InputFile: input}
	o.Playbook = func(run accept.PlanContext) (plan.Plan, error) {
		return c.Plan(t.Site, t.Profile, conformance.Deps{Cluster: run.Cluster, RunID: run.RunID, KillOutside: kill})
	}
	o.EvidenceDir, o.Resume, o.Fresh, o.From, o.Only, o.Until = f.evidence, f.resume, f.fresh, f.from, f.step, until
	o.Parallel, o.Holding, o.Keep, o.Command = 1, c.Holding(), f.keep, f.command()
	o.Events = func(e plan.Event) {
		if (e.Kind == plan.EventVerdict || e.Kind == plan.EventKept) && slices.Contains(recommended, e.Step) {
			result := *e.Result
			result.Reason = "recommended, fails nothing: " + result.Reason
			e.Result = &result
		}
		cmdutil.ShowPlanEvent(board, boardSteps, e)
	}
	return o, nil
}

// resolve resolves the recipe of --recipe. The default on the lab is the recipe of the
// intent for kind with the lab's GPUs.
func (f *validateFlags) resolve(recipes *tree.Tree, intent string, t *cmdutil.Target) (string, *resolve.Result, error) {
	if f.recipe != "" {
		ref, err := cmdutil.ParseRecipe(recipes, f.recipe)
		if err != nil {
			return "", nil, err
		}
		r, err := ref.Resolve(recipes, resolve.Options{Profile: f.profile})
		return f.recipe, r, err
	}
	if intent == "conformance" {
		intent = "training" // it has the components of every intent and no platform
	}
	accelerator, err := acceleratorOf(recipes, t.Profile.GPU.Products)
	if err != nil {
		return "", nil, err
	}
	q := criteria.Criteria{Service: "kind", Accelerator: accelerator, Intent: intent}
	r, err := cmdutil.Resolved(resolve.Resolve(recipes, q, resolve.Options{}))
	return fmt.Sprintf("service=kind,accelerator=%s,intent=%s", q.Accelerator, intent), r, err
}

// acceleratorOf is the accelerator of recipes for a GPU product: h100 for
// "NVIDIA H100 80GB HBM3".
func acceleratorOf(recipes *tree.Tree, products []string) (string, error) {
	shapes, problems := nodeprofile.Load(recipes)
	if err := problems.Err(); err != nil {
		return "", cmdutil.Unobserved(err)
	}
	for _, a := range shapes.AcceleratorList {
		for _, product := range products {
			if slices.Contains(a.Products, strings.ReplaceAll(product, " ", "-")) {
				return a.Name, nil
			}
		}
	}
	return "", cmdutil.UsageErrorf("recipe for %s not found: give one with --recipe", strings.Join(products, ", "))
}

// command is the command line in the evidence: the flags that select checks, without paths.
func (f *validateFlags) command() []string {
	command := []string{"firstlight", "validate", "--intent", f.intent, "--conformance", f.version}
	recipe := ""
	if f.recipe != "" {
		recipe = filepath.Base(f.recipe)
	}
	command = append(command, cmdutil.FlagArgs(
		[3]string{"--recipe", recipe}, [3]string{"--order", strings.Join(f.order, ",")}, [3]string{"--step", f.step}, [3]string{"--from", f.from},
	)...)
	if f.disruptive {
		command = append(command, "--disruptive")
	}
	for _, text := range f.notApplicable {
		command = append(command, "--not-applicable", text)
	}
	return command
}

// installTimeout limits the installation of a recipe's components on a lab.
const installTimeout = 5 * time.Minute

// withComponents installs a recipe's components on a lab before the first use of the
// cluster. A failed installation is repeated with the next use.
func withComponents(cluster accept.Reach, r *resolve.Result, board *display.Board) accept.Reach {
	lock := make(chan struct{}, 1) // a mutex whose Lock ends with ctx
	installed := false
	return func(ctx context.Context) (*kube.Cluster, error) {
		c, err := cluster(ctx)
		if err != nil {
			return nil, err
		}
		select {
		case lock <- struct{}{}:
			defer func() { <-lock }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if installed {
			return c, nil
		}
		board.Set(cmdutil.BoardLab, "components", display.Running, "")
		n, err := cmdutil.InstallRecipe(ctx, c, r)
		if err == nil {
			err = waitInstalled(ctx, c)
		}
		if err != nil {
			board.Set(cmdutil.BoardLab, "components", display.Failed, err.Error())
			return nil, err
		}
		installed = true
		board.Set(cmdutil.BoardLab, "components", display.Done, fmt.Sprintf("%d", n))
		return c, nil
	}
}

func waitInstalled(ctx context.Context, cluster *kube.Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	return cmdutil.Unobserved(install.Await(ctx, cluster.Client))
}

// killer kills the process of an operator that runs outside a lab's cluster; nil for a
// real cluster.
func killer(h *lab.Handle) func(ctx context.Context, operator string) (string, error) {
	if h == nil {
		return nil
	}
	return func(ctx context.Context, operator string) (string, error) {
		id, err := h.Kill(ctx, operator)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("program %s, process %d", operator, id.PID), nil
	}
}
