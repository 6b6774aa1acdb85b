package fanout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/schedule"
)

// Options of a run.
type Options struct {
	Cluster *kube.Cluster
	// Spec's Names are set from the selection.
	Spec      Spec
	Selection schedule.Selection
	// Tree is what the recipes are of; Tool the caller's version of firstlight.
	Tree, Tool string
	// Progress takes the shards that stand otherwise than before; nil: nothing.
	Progress func([]Progress)
}

const (
	// endWithin is how long after its deadline a Job is given to end.
	endWithin = 2 * time.Minute
	// removeWithin bounds the removal of what was created.
	removeWithin = 5 * time.Minute
)

// Run tests a selection in a cluster. The error is for what kept it from being
// tested, and for what could not be removed; what it found is in the report, which
// is whole when it has a verdict.
func Run(ctx context.Context, o Options) (r schedule.Report, err error) {
	o.Spec.Names = o.Selection.Names()
	if err := o.Spec.Check(); err != nil {
		return r, err
	}
	if !o.Spec.Keep {
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
			defer cancel()
			if wrong := remove(ctx, o.Cluster, &o.Spec); wrong != nil {
				err = errors.Join(err, fmt.Errorf("clean up; what is left has the label %s=%s: %w", kube.LabelRun, o.Spec.RunID, wrong))
			}
		}()
	}
	job, err := start(ctx, o.Cluster, &o.Spec)
	if err != nil {
		return r, err
	}
	x := &expectation{spec: &o.Spec, jobUID: string(job.UID), tool: o.Tool, selection: o.Selection}
	last, err := follow(ctx, o)
	if err != nil {
		return r, err
	}
	p, err := take(ctx, o.Cluster, &o.Spec)
	if err != nil {
		return r, err
	}
	r, troubles := x.join(p)
	r.Tree, r.Tier, r.Run = o.Tree, o.Selection.Tier, o.Spec.RunID
	r.Notes = append(r.Notes, notes(ctx, o, p, troubles, last)...)
	return r, nil
}

// follow waits for the end of the Job, telling how the shards stand, and returns how
// each was last seen.
func follow(ctx context.Context, o Options) (map[int]Progress, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Spec.Within+endWithin,
		fmt.Errorf("the Job did not end within %s after its deadline of %s: does the cluster's Job controller run?", endWithin, o.Spec.Within))
	defer cancel()
	w := watch(ctx, o.Cluster, &o.Spec)
	defer w.stop()
	last, seen := map[int]Progress{}, false
	err := w.until(ctx, func(p *picture) (bool, error) {
		seen = seen || p.job != nil
		if changed := changes(last, p.progress()); len(changed) > 0 && o.Progress != nil {
			o.Progress(changed)
		}
		if p.over() != nil {
			return true, nil
		}
		return false, p.hopeless(seen)
	})
	if err != nil {
		return nil, fmt.Errorf("wait for Job %s/%s: %w", o.Spec.namespace(), o.Spec.job(), err)
	}
	return last, nil
}

// changes are those of now that are not as they were last; last becomes now.
func changes(last map[int]Progress, now []Progress) []Progress {
	var out []Progress
	for _, p := range now {
		if was, known := last[p.Shard]; !known || was != p {
			out = append(out, p)
			last[p.Shard] = p
		}
	}
	return out
}

// take reads all of a run anew: an informer may be behind the Job's end.
func take(ctx context.Context, cluster *kube.Cluster, s *Spec) (*picture, error) {
	p := &picture{shards: s.Shards}
	var err error
	if p.job, err = cluster.Client.BatchV1().Jobs(s.namespace()).Get(ctx, s.job(), metav1.GetOptions{}); err != nil {
		return nil, fmt.Errorf("read the Job: %w", err)
	}
	pods, err := cluster.Client.CoreV1().Pods(s.namespace()).List(ctx, metav1.ListOptions{LabelSelector: podsOf(s)})
	if err != nil {
		return nil, fmt.Errorf("list the shards' pods: %w", err)
	}
	reports, err := cluster.Client.CoreV1().ConfigMaps(s.namespace()).List(ctx, metav1.ListOptions{LabelSelector: reportsOf(s)})
	if err != nil {
		return nil, fmt.Errorf("list the shards' reports: %w", err)
	}
	p.pods, p.reports = pods.Items, reports.Items
	return p, nil
}

// notes say what a reader of the report may want to know of the run.
func notes(ctx context.Context, o Options, p *picture, troubles []trouble, last map[int]Progress) []string {
	out := []string{fmt.Sprintf("tested in %d shards by Job %s/%s; what was seen of each recipe went with the shards' pods: only its verdict and findings are here",
		o.Spec.Shards, o.Spec.namespace(), o.Spec.job())}
	explained := map[int][]string{}
	for _, t := range troubles {
		explained[t.shard] = append(explained[t.shard], t.err.Error())
	}
	const most = 20 // each one's log is read
	for n, shard := range slices.Sorted(maps.Keys(explained)) {
		for _, text := range explained[shard] {
			if shard >= 0 && n < most {
				text = fmt.Sprintf("shard %d: %s; %s", shard, text, explain(ctx, o.Cluster, p, shard, last[shard]))
			} else if shard >= 0 {
				text = fmt.Sprintf("shard %d: %s", shard, text)
			}
			out = append(out, text)
		}
	}
	return out
}
