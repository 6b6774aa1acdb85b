package ray

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
)

// usageWithin is how long GPUs may remain in use in a report: Ray's autoscaler writes one every five seconds.
const usageWithin = 15 * time.Second

// leftFigures are the jobs of this run and of killed runs that the gate ended before it began.
type leftFigures struct {
	Ended []string `json:"ended"`
	// Remain are the placement groups that exist although their job has ended.
	Remain []string `json:"remain,omitempty"`
}

// othersFigures is a placement group with GPUs that is placed and not the gate's.
type othersFigures struct {
	Name string  `json:"name,omitempty"`
	ID   string  `json:"id"`
	GPUs float64 `json:"gpus"`
}

// endLeft ends the jobs that this run, if it was killed, and killed runs left, with their groups.
func (g *Gate) endLeft(ctx context.Context, client *probe.Client, head string, rec check.Recorder) error {
	f := leftFigures{Ended: []string{}}
	attempt := g.begin(rec, kindLeft, head, "GET "+probe.JobsPath+"ID; POST "+probe.JobsPath+"ID/stop; DELETE "+probe.JobsPath+"ID: jobs of killed runs")
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer stop()
	for _, run := range append([]string{g.deps.RunID}, g.deps.Killed...) {
		for _, target := range []string{targetFits, targetTooLarge} {
			err := g.endJob(ending, client, jobOf(run, target), &f)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return attempt.RecordPartial(f, err)
			}
		}
	}
	return attempt.Record(f, nil)
}

// endJob ends a job and waits until its group is removed; without a job it does nothing.
func (g *Gate) endJob(ctx context.Context, client *probe.Client, id string, f *leftFigures) error {
	found, err := g.stopAndDelete(ctx, client, id)
	if err != nil || !found {
		return err
	}
	f.Ended = append(f.Ended, id)
	removed, err := g.removed(ctx, client, id)
	if err == nil && !removed {
		f.Remain = append(f.Remain, id)
	}
	return err
}

// observeUsage records the GPUs in use. A report may be of the time before a job ended. Without a report the groups of
// others are recorded.
func (g *Gate) observeUsage(ctx context.Context, client *probe.Client, head string, rec check.Recorder) error {
	attempt := g.begin(rec, kindUsage, head, "GET "+probe.StatusPath)
	for {
		raw, err := client.Do(ctx, http.MethodGet, probe.StatusPath, nil)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var usage probe.Usage
		if err == nil {
			usage, err = probe.ParseUsage(raw)
		}
		if err != nil {
			return attempt.Raw(raw).Record(nil, err)
		}
		if usage.Used == 0 || attempt.Elapsed() >= usageWithin {
			if err := attempt.Raw(raw).Record(usage, nil); err != nil || usage.Known {
				return err
			}
			return read(ctx, g, client, rec, kindOthers, head, probe.CreatedPath(), g.parseOthers)
		}
		if err := g.deps.Wait(ctx, interval); err != nil {
			return err
		}
	}
}

// parseOthers are the groups of a list that hold GPUs. The gate's own have ended.
func (g *Gate) parseOthers(raw []byte) ([]othersFigures, error) {
	all, err := probe.ParseGroups(raw)
	if err != nil {
		return nil, err
	}
	out := []othersFigures{}
	for _, one := range all.List {
		f := othersFigures{Name: one.Name, ID: one.ID}
		for _, b := range one.Bundles {
			f.GPUs += b.GPUs
		}
		if f.GPUs > 0 && one.State == probe.Created {
			out = append(out, f)
		}
	}
	if len(out) == 0 && all.Missing != "" {
		return nil, fmt.Errorf("the list of placement groups is not complete (%s): the head keeps groups that were removed until it restarts", all.Missing)
	}
	return out, nil
}

// judgeUsage requires that no job of others uses GPUs.
func (g *Gate) judgeUsage(b *check.Builder, obs []check.Observation) {
	if left, o, ok := check.Require[leftFigures](b, obs, kindLeft, "", "Ray jobs of killed runs", "ray job list; ray job stop"); ok && len(left.Remain) > 0 {
		b.Fail(o.ID, "placement groups of Ray", remedyRemains, "group %s still exists after its job was stopped: its GPUs are reserved", left.Remain[0])
	}
	usage, o, ok := check.Require[probe.Usage](b, obs, kindUsage, "", "the usage of Ray", remedyAPIHead)
	switch {
	case !ok:
	case usage.Used > 0:
		b.Unobserved(o.ID, "GPUs of Ray", remedyBusy, "%g of %g GPUs are in use, so that no placement group over all nodes was created", usage.Used, usage.Total)
	case !usage.Known:
		others, o, ok := check.Require[[]othersFigures](b, obs, kindOthers, "", "the placement groups of others", remedyAPIHead)
		if i := slices.IndexFunc(others, func(one othersFigures) bool { return one.GPUs > 0 }); ok && i >= 0 {
			b.Unobserved(o.ID, "GPUs of Ray", remedyBusy, "placement group %s %q has %g GPUs, so that no placement group over all nodes was created", others[i].ID, others[i].Name, others[i].GPUs)
		}
	}
}

// usageUnknown reports whether the head had no report about the GPUs in use.
func usageUnknown(obs []check.Observation) bool {
	var b check.Builder
	usage, _, ok := check.Require[probe.Usage](&b, obs, kindUsage, "", "", "")
	return ok && !usage.Known
}
