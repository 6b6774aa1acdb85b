package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/schedule/fanout"
)

// distributeFlags say in which cluster a test is run, and as what.
type distributeFlags struct {
	where               string
	kubeconfig, context string
	spec                fanout.Spec
	cpu, memory         string
	// shards is how many there are; 0: by the number of recipes.
	shards int
	// given says whether a flag was.
	given func(name string) bool
}

// distributeOnly are the flags that mean nothing without --distribute.
var distributeOnly = []string{
	"image", "kubeconfig", "context", "namespace", "parallel", "keep", "pull-secret",
	"priority-class", "shard-cpu", "shard-memory", "shard-timeout", "timeout",
}

func (d *distributeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&d.where, "distribute", "", "kubernetes: run shards as a Job in a cluster, each with a control plane of its own")
	flags.StringVar(&d.spec.Image, "image", "", "with --distribute: image with firstlight and the programs of a control plane")
	flags.StringVar(&d.kubeconfig, "kubeconfig", "", "with --distribute: kubeconfig of the cluster (default: as kubectl finds it)")
	flags.StringVar(&d.context, "context", "", "with --distribute: context of the kubeconfig")
	flags.StringVar(&d.spec.Namespace, "namespace", "", "with --distribute: existing namespace to use; without one, a namespace of the run's own")
	flags.IntVar(&d.spec.Parallel, "parallel", 0, "with --distribute: shards at one time (default: all of them)")
	flags.BoolVar(&d.spec.Keep, "keep", false, "with --distribute: leave what was created, for a look at it")
	flags.StringVar(&d.spec.PullSecret, "pull-secret", "", "with --distribute: secret of the namespace to pull the image with")
	flags.StringVar(&d.spec.PriorityClass, "priority-class", "", "with --distribute: existing class that preempts nothing; without one, a class of the run's own")
	flags.StringVar(&d.cpu, "shard-cpu", "2", "with --distribute: processors that a shard requests")
	flags.StringVar(&d.memory, "shard-memory", "4Gi", "with --distribute: memory that a shard requests, and gets no more of")
	flags.DurationVar(&d.spec.ShardWithin, "shard-timeout", 30*time.Minute, "with --distribute: how long one try of a shard may take")
	flags.DurationVar(&d.spec.Within, "timeout", 2*time.Hour, "with --distribute: how long all of it may take")
	d.given = flags.Changed
	if err := cmd.RegisterFlagCompletionFunc("distribute", cobra.FixedCompletions([]string{"kubernetes"}, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag was added above
	}
}

// check finds what is wrong, and takes --shards for itself: with --distribute all of
// them are run.
func (d *distributeFlags) check(c *scheduleChoice) error {
	if d.where == "" {
		for _, name := range distributeOnly {
			if d.given(name) {
				return usage("--%s is for --distribute kubernetes", name)
			}
		}
		return nil
	}
	if d.where != "kubernetes" {
		return usage("--distribute %s: there is only kubernetes", d.where)
	}
	for _, name := range []string{"shard-index", "evidence", "publish", "record"} {
		if d.given(name) {
			return usage("--%s is not for --distribute: all shards are run, and their reports come back", name)
		}
	}
	if d.given("shards") {
		if d.shards = c.shards; d.shards < 1 {
			return usage("--shards %d: there is at least one", d.shards)
		}
		c.shards = 1
	}
	if d.given("parallel") && d.spec.Parallel < 1 {
		return usage("--parallel %d: at least one shard at a time", d.spec.Parallel)
	}
	if d.spec.Image == "" {
		return usage("--distribute needs --image: the shards run firstlight from it (docs/distribute.md says what must be in it)")
	}
	var err error
	if d.spec.CPU, err = resource.ParseQuantity(d.cpu); err != nil {
		return usage("--shard-cpu %s: %w", d.cpu, err)
	}
	if d.spec.Memory, err = resource.ParseQuantity(d.memory); err != nil {
		return usage("--shard-memory %s: %w", d.memory, err)
	}
	return nil
}

// runDistributed tests what was chosen in a cluster.
func runDistributed(ctx context.Context, s Streams, f *scheduleFlags, label string, chosen schedule.Selection, out *format) error {
	spec, err := f.distribute.specOf(f, chosen)
	if err != nil {
		return err
	}
	cluster, err := kube.Open(f.distribute.kubeconfig, f.distribute.context)
	if err != nil {
		return usage("%w", err)
	}
	board := newBoard(s.Err)
	closeBoard := onlyOnce(board.Close)
	defer closeBoard()
	progress := &shardProgress{board: board, shards: map[int]fanout.Progress{}, total: spec.Shards}
	r, err := fanout.Run(ctx, fanout.Options{
		Cluster: cluster, Spec: spec, Selection: chosen, Tree: label, Tool: version, Progress: progress.show,
	})
	closeBoard()
	if spec.Keep {
		fmt.Fprintf(s.Err, "kept: kubectl get all,configmaps --all-namespaces -l %s=%s\n", kube.LabelRun, spec.RunID)
	}
	if r.Verdict == "" {
		return infrastructure(err)
	}
	if err != nil { // it was tested, and something was not removed
		r.Notes = append(r.Notes, err.Error())
	}
	if verdict := finishRecipeTest(s, out, r); verdict != nil {
		return verdict
	}
	return infrastructure(err)
}

// specOf is the run that the flags ask for.
func (d *distributeFlags) specOf(f *scheduleFlags, chosen schedule.Selection) (fanout.Spec, error) {
	spec := d.spec
	spec.Names, spec.Jobs, spec.PerPlane = chosen.Names(), f.jobs, f.perPlane
	spec.Shards = d.shards
	if spec.Shards == 0 {
		spec.Shards = fanout.ShardsOf(len(spec.Names))
	}
	spec.Shards = min(spec.Shards, len(spec.Names))
	if spec.Parallel == 0 {
		spec.Parallel = spec.Shards
	}
	var err error
	if spec.RunID, err = fanout.NewRunID(time.Now(), rand.Reader); err != nil {
		return spec, infrastructure(err)
	}
	if f.recipes.dir != "" {
		if spec.Recipes, err = recipe.Pack(f.recipes.dir); err != nil {
			return spec, usage("%w", err)
		}
	}
	if err := spec.Check(); err != nil {
		return spec, usage("%w", err)
	}
	return spec, nil
}

// publishFlags make recipe test a shard: what it finds goes to a ConfigMap.
type publishFlags struct {
	to, run, owner string
}

func (p *publishFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&p.to, "publish", "", "write the report to this ConfigMap, NAMESPACE/NAME, and exit 0 whatever it says")
	flags.StringVar(&p.run, "publish-run", "", "with --publish: id of the run")
	flags.StringVar(&p.owner, "publish-owner", "", "with --publish: Job that owns the ConfigMap, NAME/UID")
	for _, name := range []string{"publish", "publish-run", "publish-owner"} {
		if err := flags.MarkHidden(name); err != nil {
			panic(err) // the flag was added above
		}
	}
}

// check refuses what can't be published before anything is tested.
func (p *publishFlags) check() error {
	if p.to == "" {
		return nil
	}
	if _, err := fanout.ParsePublication(p.to, p.run, p.owner); err != nil {
		return usage("%w", err)
	}
	return nil
}

// publish writes a shard's report where it belongs. It is no error that recipes
// failed; it is one when none could be observed, so that the shard is tried again.
func (p *publishFlags) publish(ctx context.Context, r schedule.Report, shard, shards int) error {
	to, err := fanout.ParsePublication(p.to, p.run, p.owner)
	if err != nil {
		return usage("%w", err)
	}
	to.Shard, to.Shards, to.Tool = shard, shards, version
	cluster, err := kube.Open("", "")
	if err == nil {
		err = to.Publish(ctx, cluster.Client, r)
	}
	if err == nil && fanout.ShouldRetry(r) {
		err = fmt.Errorf("nothing could be observed: %s", firstReason(r))
	}
	return infrastructure(err)
}

// firstReason is why the first recipe has no verdict.
func firstReason(r schedule.Report) string {
	for _, res := range r.Recipes {
		if res.Verdict != check.Passed {
			return res.Recipe + ": " + res.Reason
		}
	}
	return r.Reason
}

// namesIn are the recipes that a file names.
func namesIn(file string) ([]string, error) {
	names, err := fanout.ReadNames(file)
	if err != nil {
		return nil, usage("%w", err)
	}
	return names, nil
}
