package recipe

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/schedule/fanout"
)

// distributeFlags select a cluster that runs the test as a Job.
type distributeFlags struct {
	where               string
	kubeconfig, context string
	spec                fanout.Spec
	cpu, memory         string
	// shards is 0 if the number of recipes decides.
	shards int
	// given reports whether a flag was set.
	given func(name string) bool
}

// distributeOnly are the flags that need --distribute.
var distributeOnly = []string{
	"image", "kubeconfig", "context", "namespace", "parallel", "keep", "pull-secret",
	"priority-class", "shard-cpu", "shard-memory", "shard-timeout", "timeout",
}

func (d *distributeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&d.where, "distribute", "", "kubernetes: run shards as a Job in a cluster, each with its own control plane")
	flags.StringVar(&d.spec.Image, "image", "", "image with firstlight and the control plane programs, for --distribute")
	flags.StringVar(&d.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster for --distribute (default: that of kubectl)")
	flags.StringVar(&d.context, "context", "", "context of the kubeconfig for --distribute")
	flags.StringVar(&d.spec.Namespace, "namespace", "", "existing namespace for --distribute (default: create one)")
	flags.IntVar(&d.spec.Parallel, "parallel", 0, "number of shards that run at a time with --distribute (default: all)")
	flags.BoolVar(&d.spec.Keep, "keep", false, "keep the created objects for inspection, with --distribute")
	flags.StringVar(&d.spec.PullSecret, "pull-secret", "", "image pull secret for --distribute")
	flags.StringVar(&d.spec.PriorityClass, "priority-class", "", "existing non-preempting priority class for --distribute (default: create one)")
	flags.StringVar(&d.cpu, "shard-cpu", "2", "CPU request of a shard, for --distribute")
	flags.StringVar(&d.memory, "shard-memory", "4Gi", "memory request and limit of a shard, for --distribute")
	flags.DurationVar(&d.spec.ShardWithin, "shard-timeout", 30*time.Minute, "timeout of one attempt of a shard, for --distribute")
	flags.DurationVar(&d.spec.Within, "timeout", 2*time.Hour, "timeout of the whole test, for --distribute")
	d.given = flags.Changed
	cmdutil.CompleteFlag(cmd, "distribute", []string{"kubernetes"})
}

// check validates the flags. It takes over --shards, since --distribute runs all shards.
func (d *distributeFlags) check(c *scheduleChoice) error {
	if d.where == "" {
		for _, name := range distributeOnly {
			if d.given(name) {
				return cmdutil.UsageErrorf("--%s needs --distribute kubernetes", name)
			}
		}
		return nil
	}
	if d.where != "kubernetes" {
		return cmdutil.UsageErrorf("unknown --distribute %q: want kubernetes", d.where)
	}
	for _, name := range []string{"shard-index", "evidence", "publish", "record"} {
		if d.given(name) {
			return cmdutil.UsageErrorf("--%s cannot be used with --distribute, which runs all shards", name)
		}
	}
	if d.given("shards") {
		if d.shards = c.shards; d.shards < 1 {
			return cmdutil.UsageErrorf("invalid --shards %d: must be at least 1", d.shards)
		}
		c.shards = 1
	}
	if d.given("parallel") && d.spec.Parallel < 1 {
		return cmdutil.UsageErrorf("invalid --parallel %d: must be at least 1", d.spec.Parallel)
	}
	if d.spec.Image == "" {
		return cmdutil.UsageErrorf("--distribute needs --image, an image with firstlight (see docs/distribute.md)")
	}
	var err error
	if d.spec.CPU, err = resource.ParseQuantity(d.cpu); err != nil {
		return cmdutil.UsageErrorf("invalid --shard-cpu %s: %w", d.cpu, err)
	}
	if d.spec.Memory, err = resource.ParseQuantity(d.memory); err != nil {
		return cmdutil.UsageErrorf("invalid --shard-memory %s: %w", d.memory, err)
	}
	return nil
}

// runDistributed runs the test in a cluster.
func runDistributed(ctx context.Context, s cmdutil.Streams, f *scheduleFlags, label string, chosen schedule.Selection, out *cmdutil.Output) error {
	spec, err := f.distribute.specOf(f, chosen)
	if err != nil {
		return err
	}
	cluster, err := kube.Open(f.distribute.kubeconfig, f.distribute.context)
	if err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	board := cmdutil.NewBoard(s.Err)
	closeBoard := sync.OnceFunc(board.Close)
	defer closeBoard()
	progress := &shardProgress{board: board, shards: map[int]fanout.Progress{}, total: spec.Shards}
	r, err := fanout.Run(ctx, fanout.Options{
		Cluster: cluster, Spec: spec, Selection: chosen, Tree: label, Tool: cmdutil.Version, Progress: progress.show,
	})
	closeBoard()
	if spec.Keep {
		fmt.Fprintf(s.Err, "kept: kubectl get all,configmaps --all-namespaces -l %s=%s\n", kube.LabelRun, spec.RunID)
	}
	if r.Verdict == "" {
		return cmdutil.Unobserved(err)
	}
	if err != nil { // the cleanup failed
		r.Notes = append(r.Notes, err.Error())
	}
	if verdict := finishTest(s, out, r); verdict != nil {
		return verdict
	}
	return cmdutil.Unobserved(err)
}

func (d *distributeFlags) specOf(f *scheduleFlags, chosen schedule.Selection) (fanout.Spec, error) {
	spec := d.spec
	spec.Names, spec.Jobs, spec.PerPlane = chosen.Names(), f.jobs, f.perPlane
	spec.Shards = d.shards
	if spec.Shards == 0 {
		spec.Shards = fanout.ShardsOf(len(spec.Names))
	}
	spec.Shards = min(spec.Shards, len(spec.Names))
	spec.Parallel = cmp.Or(spec.Parallel, spec.Shards)
	var err error
	if spec.RunID, err = fanout.NewRunID(time.Now(), rand.Reader); err != nil {
		return spec, cmdutil.Unobserved(err)
	}
	if f.recipes.Dir != "" {
		if spec.Recipes, err = recipe.Pack(f.recipes.Dir); err != nil {
			return spec, cmdutil.UsageErrorf("%w", err)
		}
	}
	if err := spec.Check(); err != nil {
		return spec, cmdutil.UsageErrorf("%w", err)
	}
	return spec, nil
}

// publishFlags make recipe test write its report to a ConfigMap, as a shard of a Job.
type publishFlags struct {
	to, run, owner string
}

func (p *publishFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&p.to, "publish", "", "write the report to this ConfigMap, NAMESPACE/NAME, and exit 0 whatever the verdict")
	flags.StringVar(&p.run, "publish-run", "", "ID of the run, for --publish")
	flags.StringVar(&p.owner, "publish-owner", "", "Job that owns the ConfigMap, NAME/UID, for --publish")
	cmdutil.HideFlags(cmd, "publish", "publish-run", "publish-owner")
}

// check validates the flags before the test.
func (p *publishFlags) check() error {
	if p.to == "" {
		return nil
	}
	if _, err := fanout.ParsePublication(p.to, p.run, p.owner); err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	return nil
}

// publish writes a shard's report. Failed recipes are not an error; a report without
// observations is one, so that the shard is retried.
func (p *publishFlags) publish(ctx context.Context, r schedule.Report, shard, shards int) error {
	to, err := fanout.ParsePublication(p.to, p.run, p.owner)
	if err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	to.Shard, to.Shards, to.Tool = shard, shards, cmdutil.Version
	cluster, err := kube.Open("", "")
	if err == nil {
		err = to.Publish(ctx, cluster.Client, r)
	}
	if err == nil && fanout.ShouldRetry(r) {
		err = fmt.Errorf("nothing could be observed: %s", firstReason(r))
	}
	return cmdutil.Unobserved(err)
}

// firstReason is the reason of the first recipe that did not pass.
func firstReason(r schedule.Report) string {
	for _, res := range r.Recipes {
		if res.Verdict != check.Passed {
			return res.Recipe + ": " + res.Reason
		}
	}
	return r.Reason
}

func namesIn(file string) ([]string, error) {
	names, err := fanout.ReadNames(file)
	if err != nil {
		return nil, cmdutil.UsageErrorf("%w", err)
	}
	return names, nil
}
