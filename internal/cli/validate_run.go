package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/accept"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/catalog"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/install"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe/criteria"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/shape"
	"github.com/firstlight/firstlight/internal/recipe/tree"
	"github.com/firstlight/firstlight/internal/validate"
)

// validateFlags are the flags of validate.
type validateFlags struct {
	target        targetFlags
	recipes       recipeFlags
	intent        *string
	recipe        string
	profile       string
	version       string
	order         []string
	step, from    string
	through       string
	fresh, keep   bool
	resume        string
	disruptive    bool
	notApplicable []string
	evidence      string
	artifacts     string
}

// latestProgramme is the version of the conformance programme that validate takes
// unless told otherwise: the newest of which Kubernetes is out.
const latestProgramme = "1.36"

func (f *validateFlags) add(cmd *cobra.Command) {
	f.target.add(cmd)
	f.intent = addIntent(cmd)
	addRecipesFlag(cmd, &f.recipes)
	flags := cmd.Flags()
	flags.StringVar(&f.recipe, "recipe", "", "recipe of the cluster: a name, criteria, or a file (default on the lab: that of the intent for kind)")
	flags.StringVar(&f.profile, "recipe-profile", "", "value of the recipe's profile, as name=value")
	flags.StringVar(&f.version, "conformance", latestProgramme, "version of the conformance programme: "+strings.Join(catalog.Versions(), ", "))
	flags.StringSliceVar(&f.order, "order", nil, "order of the steps, proved before anything is done (default: derived)")
	flags.StringVar(&f.step, "step", "", "look at this step or requirement alone")
	flags.StringVar(&f.from, "from", "", "keep the verdicts of the last run up to this step or requirement, and go on from there")
	flags.StringVar(&f.through, "through", "", "go on through this step, which the exit code is of, and leave the run to be gone on with")
	flags.StringVar(&f.resume, "resume", "", "go on with this unfinished run, or latest")
	flags.BoolVar(&f.fresh, "fresh", false, "start a new run, also where there is an unfinished one")
	flags.BoolVar(&f.keep, "keep", false, "leave what was created, for a look at it")
	flags.BoolVar(&f.disruptive, "disruptive", false, "allow what disturbs a cluster in use, such as killing an operator's controller (the lab always allows it)")
	flags.StringArrayVar(&f.notApplicable, "not-applicable", nil, "requirement that the platform does not offer, as ID=REASON (may be repeated)")
	flags.StringVar(&f.evidence, "evidence", "evidence", "directory that runs are kept in")
	flags.StringVar(&f.artifacts, "artifacts", "", "directory for the artifacts, new or empty (default: artifacts/RUN)")
	cmd.MarkFlagsMutuallyExclusive("resume", "fresh", "from", "step")
	cmd.MarkFlagsMutuallyExclusive("through", "step")
}

// excused reads --not-applicable.
func (f *validateFlags) excused() (map[string]string, error) {
	out := map[string]string{}
	for _, text := range f.notApplicable {
		id, reason, ok := strings.Cut(text, "=")
		if !ok || id == "" || strings.TrimSpace(reason) == "" {
			return nil, usage("--not-applicable %q: it is ID=REASON, such as cluster_autoscaling='nodes are bought'", text)
		}
		out[id] = strings.TrimSpace(reason)
	}
	return out, nil
}

// onLab: no cluster is given.
func (f *validateFlags) onLab() bool { return f.target.site == "" }

// extras are what a lab must have for the checks.
func (f *validateFlags) extras() []string {
	return []string{component.ExtraAdapter, component.ExtraGateway, component.ExtraKarpenter, component.ExtraTrainer}
}

// check refuses what makes no sense before anything is done.
func (f *validateFlags) check() error {
	if _, err := intentOf(*f.intent); err != nil {
		return err
	}
	if err := f.target.check(); err != nil {
		return err
	}
	if !slices.Contains(catalog.Versions(), f.version) {
		return usage("--conformance %s: it is one of %s", f.version, strings.Join(catalog.Versions(), ", "))
	}
	if f.recipe == "" && !f.onLab() {
		return usage("--site needs --recipe: what has to be on the cluster is what its recipe says (firstlight recipe list)")
	}
	_, err := f.excused()
	return err
}

func runValidate(ctx context.Context, s Streams, f *validateFlags, out *format) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	tr, err := f.recipes.open(s)
	if err != nil {
		return err
	}
	board := newBoard(s.Err)
	closeBoard := onlyOnce(board.Close)
	defer closeBoard()
	t, err := f.target.reach(ctx, board, f.labExtras()...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, infrastructure(t.close(ctx))) }()

	c, r, err := f.caseOf(tr, t)
	if err != nil {
		return err
	}
	walked, err := f.walk(ctx, t, c, r, board)
	closeBoard()
	if input, ok := errors.AsType[*accept.InputError](err); ok {
		return usage("%w", input)
	}
	if walked.Run == "" {
		return infrastructure(err)
	}
	report, reportErr := f.report(c, walked, err)
	writeErr := out.write(s.Out, report, func(w io.Writer) error {
		printValidation(w, report, display.Style{Color: colourOf(s.Out)})
		return nil
	})
	if err := errors.Join(err, reportErr, writeErr); err != nil {
		return infrastructure(err)
	}
	return verdictExit(report.Verdict)
}

// caseOf is what the target is validated against.
func (f *validateFlags) caseOf(tr *tree.Tree, t *target) (validate.Case, *resolve.Result, error) {
	intent, err := intentOf(*f.intent)
	if err != nil {
		return validate.Case{}, nil, err
	}
	name, r, err := f.resolved(tr, string(intent), t)
	if err != nil {
		return validate.Case{}, nil, err
	}
	order, err := orderOf(intent, gpusOf(t.site, t.profile), f.order)
	if err != nil {
		return validate.Case{}, nil, err
	}
	c, err := validate.Of(name, r, t.site, t.profile, order)
	if err != nil {
		return validate.Case{}, nil, usage("%w", err)
	}
	c.Version, c.Disruptive = f.version, f.disruptive || f.onLab()
	c.NotApplicable, err = f.excused()
	return c, r, err
}

// report is of a walk, with its artifacts where it went to its end.
func (f *validateFlags) report(c validate.Case, walked accept.Report, walkErr error) (validate.Report, error) {
	report, err := c.Report(walked)
	switch {
	case err != nil || walkErr != nil || f.step != "":
		return report, err //nolint:wrapcheck // says what it was doing
	case f.through != "":
		return report.Through(f.through) //nolint:wrapcheck // says what it was doing
	}
	dir := f.artifacts
	if dir == "" {
		dir = filepath.Join("artifacts", walked.Run)
	}
	return validate.Collect(report, c, dir) //nolint:wrapcheck // says what it was doing
}

func (f *validateFlags) labExtras() []string {
	if f.onLab() {
		return f.extras()
	}
	return nil
}

// walk takes the steps.
func (f *validateFlags) walk(ctx context.Context, t *target, c validate.Case, r *resolve.Result, board *display.Board) (accept.Report, error) {
	input, err := c.Encode()
	if err != nil {
		return accept.Report{}, infrastructure(err)
	}
	recipe, err := r.Document()
	if err != nil {
		return accept.Report{}, infrastructure(err)
	}
	recipeFile, err := yaml.Marshal(recipe)
	if err != nil {
		return accept.Report{}, infrastructure(err)
	}
	if f.onLab() {
		t.install(r, board)
	}
	planned, err := c.Plan(t.site, t.profile, conformance.Deps{})
	if err != nil {
		return accept.Report{}, usage("%w", err)
	}
	for _, step := range planned.Steps {
		board.Set(boardSteps, step.Name(), display.Waiting, "")
	}
	recommended, err := validate.Recommended(c.Version)
	if err != nil {
		return accept.Report{}, usage("%w", err)
	}
	until, err := c.Last(f.through)
	if err != nil {
		return accept.Report{}, usage("--through: %w", err)
	}
	return accept.Run(ctx, accept.Options{
		Site: t.site, Profile: t.profile, SiteFile: t.siteFile, ProfileFile: t.profileFile, Cluster: t.cluster,
		Recipe: c.Recipe, RecipeFile: recipeFile, Inputs: map[string][]byte{validate.InputFile: input},
		Playbook: func(w accept.Walk) (plan.Plan, error) {
			return c.Plan(t.site, t.profile, conformance.Deps{Cluster: w.Cluster, RunID: w.RunID, KillOutside: t.killer()})
		},
		Charts:      gate.Charts(t.site, t.profile),
		EvidenceDir: f.evidence, Resume: f.resume, Fresh: f.fresh, From: f.from, Only: f.step, Until: until,
		Parallel: 1, Holding: c.Holding(), Keep: f.keep, ClusterEnds: t.owner != nil, Hosts: t.hosts.Keys(),
		Tool: version, Command: f.command(), Versions: t.versions, Digests: t.digests,
		Events: func(e plan.Event) { showStepEvent(board, e, recommended) },
		Note:   func(text string) { board.Log("%s", text) },
	})
}

// resolved is the recipe that is asked for; on the lab, by default, that of the intent
// for a cluster of kind with the lab's GPUs.
func (f *validateFlags) resolved(t *tree.Tree, intent string, at *target) (string, *resolve.Result, error) {
	if f.recipe != "" {
		n, err := parseRecipe(t, f.recipe)
		if err != nil {
			return "", nil, err
		}
		r, err := n.resolve(t, resolve.Options{Profile: f.profile})
		return f.recipe, r, err
	}
	if intent == "conformance" {
		intent = "training" // what a cluster for either intent has, and no platform beside it
	}
	accelerator, err := labAccelerator(t, at.profile.GPU.Products)
	if err != nil {
		return "", nil, err
	}
	q := criteria.Criteria{Service: "kind", Accelerator: accelerator, Intent: intent}
	r, err := resolved(resolve.Resolve(t, q, resolve.Options{}))
	return fmt.Sprintf("service=kind,accelerator=%s,intent=%s", q.Accelerator, intent), r, err
}

// labAccelerator is the lab's GPU as recipes call it: h100 of NVIDIA H100 80GB HBM3.
func labAccelerator(t *tree.Tree, products []string) (string, error) {
	shapes, problems := shape.Load(t)
	if err := problems.Err(); err != nil {
		return "", infrastructure(err)
	}
	for _, a := range shapes.AcceleratorList {
		for _, product := range products {
			if slices.Contains(a.Products, strings.ReplaceAll(product, " ", "-")) {
				return a.Name, nil
			}
		}
	}
	return "", usage("no recipe is for %s: give one with --recipe", strings.Join(products, ", "))
}

// command is what the evidence says was asked for: the flags that matter, no paths.
func (f *validateFlags) command() []string {
	command := []string{"firstlight", "validate", "--intent", *f.intent, "--conformance", f.version}
	for _, flag := range []struct{ name, value string }{
		{"--recipe", filepath.Base(f.recipe)}, {"--order", strings.Join(f.order, ",")}, {"--step", f.step}, {"--from", f.from},
	} {
		if flag.value != "" && flag.value != "." {
			command = append(command, flag.name, flag.value)
		}
	}
	if f.disruptive {
		command = append(command, "--disruptive")
	}
	for _, text := range f.notApplicable {
		command = append(command, "--not-applicable", text)
	}
	return command
}

// installWithin bounds what a lab needs until a recipe's components are there.
const installWithin = 5 * time.Minute

// install has the lab carry a recipe's components before anybody looks at it.
func (t *target) install(r *resolve.Result, board *display.Board) {
	reach := t.cluster
	done := make(chan struct{}, 1)
	done <- struct{}{}
	installed := false
	t.cluster = func(ctx context.Context) (*kube.Cluster, error) {
		cluster, err := reach(ctx)
		if err != nil {
			return nil, err
		}
		select {
		case <-done:
			defer func() { done <- struct{}{} }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if installed {
			return cluster, nil
		}
		board.Set(boardLab, "components", display.Running, "")
		n, err := installOn(ctx, cluster, r)
		if err == nil {
			err = awaitInstalled(ctx, cluster)
		}
		if err != nil {
			board.Set(boardLab, "components", display.Failed, err.Error())
			return nil, err
		}
		installed = true
		board.Set(boardLab, "components", display.Done, fmt.Sprintf("%d", n))
		return cluster, nil
	}
}

// awaitInstalled returns when what was installed on a lab is as it will be.
func awaitInstalled(ctx context.Context, cluster *kube.Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, installWithin)
	defer cancel()
	return infrastructure(install.Await(ctx, cluster.Client))
}

// killer kills programs beside a lab's API server; nil where there is no lab.
func (t *target) killer() func(ctx context.Context, operator string) (string, error) {
	if t.labHandle == nil {
		return nil
	}
	return func(ctx context.Context, operator string) (string, error) {
		id, err := t.labHandle.Kill(ctx, operator)
		if err != nil {
			return "", err //nolint:wrapcheck // says of what
		}
		return fmt.Sprintf("program %s, process %d", operator, id.PID), nil
	}
}
