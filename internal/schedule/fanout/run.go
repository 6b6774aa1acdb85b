package fanout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/schedule"
)

// Options of a run.
type Options struct {
	Cluster *kube.Cluster
	// Spec; its Names are set from the Selection.
	Spec      Spec
	Selection schedule.Selection
	// Tree of the recipes; Tool is the caller's firstlight version.
	Tree, Tool string
	// Progress receives the shards that changed; may be nil.
	Progress func([]Progress)
}

const (
	// endTimeout is the time for a Job to end after its deadline.
	endTimeout = 2 * time.Minute
	// cleanupTimeout bounds the deletion of the run's objects.
	cleanupTimeout = 5 * time.Minute
)

// Run tests a selection in a cluster. The error reports a test that could not run or a
// failed clean-up. The report is complete if it has a verdict.
func Run(ctx context.Context, o Options) (r schedule.Report, err error) {
	o.Spec.Names = o.Selection.Names()
	if err := o.Spec.Check(); err != nil {
		return r, err
	}
	if !o.Spec.Keep {
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
			defer cancel()
			notListed, wrong := remove(ctx, o.Cluster, &o.Spec)
			if notListed != nil {
				r.Notes = append(r.Notes, "clean-up: "+notListed.Error())
			}
			if wrong != nil {
				err = errors.Join(err, fmt.Errorf("clean up (remaining objects have the label %s=%s): %w", kube.LabelRun, o.Spec.RunID, wrong))
			}
		}()
	}
	job, err := start(ctx, o.Cluster, &o.Spec)
	if err != nil {
		return r, err
	}
	x := &expectation{spec: &o.Spec, jobUID: string(job.UID), tool: o.Tool, selection: o.Selection}
	last, err := waitForJob(ctx, o, job.UID)
	if err != nil {
		return r, err
	}
	p, err := readAll(ctx, o.Cluster, &o.Spec, job.UID)
	if err != nil {
		return r, err
	}
	r, troubles := x.join(p)
	r.Tree, r.Tier, r.Run = o.Tree, o.Selection.Tier, o.Spec.RunID
	r.Notes = append(r.Notes, notes(ctx, o, p, troubles, last)...)
	return r, nil
}

// waitForJob waits for the end of the Job, reports progress, and returns the last progress
// of each shard.
func waitForJob(ctx context.Context, o Options, job types.UID) (map[int]Progress, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Spec.Within+endTimeout,
		fmt.Errorf("the Job did not end within %s after its deadline of %s: check that the cluster's Job controller runs", endTimeout, o.Spec.Within))
	defer cancel()
	w := watch(ctx, o.Cluster, &o.Spec, job)
	defer w.stop()
	last, seen := map[int]Progress{}, false
	err := w.until(ctx, func(p *status) (bool, error) {
		seen = seen || p.job != nil
		if changed := changes(last, p.progress()); len(changed) > 0 && o.Progress != nil {
			o.Progress(changed)
		}
		if p.finished() != nil {
			return true, nil
		}
		return false, p.terminalError(seen)
	})
	if err != nil {
		return nil, fmt.Errorf("wait for Job %s/%s: %w", o.Spec.namespace(), o.Spec.job(), err)
	}
	return last, nil
}

// changes returns the shards whose progress changed, and updates last.
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

// readAll lists the run's objects: an informer may be behind the Job's end. Reports are checked when
// they are joined.
func readAll(ctx context.Context, cluster *kube.Cluster, s *Spec, job types.UID) (*status, error) {
	p := &status{shards: s.Shards}
	var err error
	if p.job, err = cluster.Client.BatchV1().Jobs(s.namespace()).Get(ctx, s.job(), metav1.GetOptions{}); err != nil {
		return nil, fmt.Errorf("read the Job: %w", err)
	}
	if p.job.UID != job {
		return nil, fmt.Errorf("read the Job: %s/%s was replaced: its UID is %s, want %s", s.namespace(), s.job(), p.job.UID, job)
	}
	pods, err := cluster.Client.CoreV1().Pods(s.namespace()).List(ctx, metav1.ListOptions{LabelSelector: podsOf(s)})
	if err != nil {
		return nil, fmt.Errorf("list the shards' pods: %w", err)
	}
	reports, err := cluster.Client.CoreV1().ConfigMaps(s.namespace()).List(ctx, metav1.ListOptions{LabelSelector: reportsOf(s)})
	if err != nil {
		return nil, fmt.Errorf("list the shards' reports: %w", err)
	}
	p.pods, p.reports = podsOwnedBy(pods.Items, job), reports.Items
	return p, nil
}

// notes for the reader of the report.
func notes(ctx context.Context, o Options, p *status, troubles []problem, last map[int]Progress) []string {
	out := []string{fmt.Sprintf("tested in %d shards by Job %s/%s; the observations were deleted with the shards' pods: only verdicts and findings are kept",
		o.Spec.Shards, o.Spec.namespace(), o.Spec.job())}
	explained := map[int][]string{}
	for _, t := range troubles {
		explained[t.shard] = append(explained[t.shard], t.err.Error())
	}
	const most = 20 // each needs one log request
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
