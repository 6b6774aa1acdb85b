package ray

import (
	"context"
	_ "embed" // the job
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	probe "github.com/firstlight/firstlight/internal/probe/ray"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// job creates a placement group and keeps it. When the group is placed, a task on each bundle counts the GPUs of its
// container. With its driver the group is removed: at the latest after its time,
// so that nothing remains of a run that was killed.
//
//go:embed group.py
var job string

const (
	// maxLog is how much of a job's log is kept, in bytes.
	maxLog = 4000
	// reschedule is how long a group may be rescheduled, which Ray retries every few seconds.
	reschedule = 30 * time.Second
	// countWithin is how long the tasks of a group may take, from its creation: Ray starts a worker process on each node.
	countWithin = 90 * time.Second
	// slack is what a job runs longer than the gate waits.
	slack = time.Minute
)

// jobID is the submission ID, and the name of the placement group.
func (g *Gate) jobID(target string) string { return jobOf(g.deps.RunID, target) }

func jobOf(run, target string) string { return "firstlight-" + run + "-" + target }

func (g *Gate) entrypoint(target string, bundles int) string {
	return ssh.Quote([]string{
		"python", "-c", job, g.jobID(target), strconv.Itoa(bundles), strconv.Itoa(g.gpus),
		strconv.Itoa(int((g.deadline + countWithin + slack).Seconds())),
	})
}

// probeGroup submits a job with a placement group, waits for Ray's decision, stops the job and waits until the group
// is removed. held is false if a further group would prove nothing.
func (g *Gate) probeGroup(ctx context.Context, client *probe.Client, rec check.Recorder, target string, bundles int) (held bool, err error) {
	id := g.jobID(target)
	attempt := g.begin(rec, kindProof, target, fmt.Sprintf("POST %s: a placement group of %d bundles with %d GPUs each, STRICT_SPREAD; GET %s", probe.JobsPath, bundles, g.gpus, probe.GroupsPath))
	f := proofFigures{Bundles: bundles, GPUs: float64(g.gpus)}
	raw, err := g.submit(ctx, client, target, bundles)
	if err == nil {
		raw, err = g.watch(ctx, client, target, &f)
	}
	ending, stopEnding := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer stopEnding()
	if f.Job.Terminated() || err != nil || target == targetFits && !f.complete() {
		f.Log = g.log(ending, client, id)
	}
	_, ended := g.stopAndDelete(ending, client, id)
	if ended == nil {
		f.Removed, ended = g.removed(ending, client, id)
	}
	if err := ctx.Err(); err != nil {
		return false, errors.Join(err, ended)
	}
	if err = errors.Join(err, ended); err != nil {
		return false, attempt.Raw(raw).RecordPartial(f, err)
	}
	held = f.Group != nil && f.Group.State == probe.Created && f.Removed
	return held, attempt.Raw(raw).Record(f, nil)
}

func (g *Gate) submit(ctx context.Context, client *probe.Client, target string, bundles int) ([]byte, error) {
	body, err := probe.Submission(g.jobID(target), g.entrypoint(target, bundles), kube.Labels(g.deps.RunID, g.Name()))
	if err != nil {
		return nil, err
	}
	raw, err := client.Do(ctx, http.MethodPost, probe.JobsPath, body)
	if err == nil {
		_, err = probe.ParseSubmitted(raw)
	}
	return raw, err
}

// watch waits until the group is placed and its tasks have ended, was not placed for some time after the scheduler's decision, or the job has
// ended. It returns the last list of groups.
func (g *Gate) watch(ctx context.Context, client *probe.Client, target string, f *proofFigures) (raw []byte, err error) {
	began, before := g.deps.Clock.Now(), ""
	since := began
	for {
		if f.Job, err = g.status(ctx, client, g.jobID(target)); err != nil {
			return raw, err
		}
		if f.Group, raw, err = g.group(ctx, client, g.jobID(target)); err != nil {
			return raw, err
		}
		now := g.deps.Clock.Now()
		state := ""
		if f.Group != nil {
			state = f.Group.State
		}
		if state != before {
			since, before = now, state
		}
		f.SteadySeconds = now.Sub(since).Seconds()
		counting := target == targetFits && state == probe.Created
		if counting {
			if f.Counts, err = g.counts(ctx, client, g.jobID(target)); err != nil {
				return raw, err
			}
		}
		if f.Job.Terminated() || now.Sub(began) > g.deadline && !counting || f.Group != nil && g.decided(target, *f) {
			return raw, nil
		}
		if err := g.deps.Wait(ctx, interval); err != nil {
			return raw, err
		}
	}
}

// decided reports whether Ray has decided about a group. One that must fit may wait for resources; that another one
// waits is a decision only if the scheduler reports that it has tried to place it.
func (g *Gate) decided(target string, f proofFigures) bool {
	switch {
	case f.Group.State == probe.Created && target == targetFits:
		return f.complete() || f.steady() >= countWithin
	case f.Group.State == probe.Created:
		return true
	case target == targetFits:
		return f.Group.State == probe.Rescheduling && f.steady() >= reschedule
	case f.Group.State == probe.Pending && f.Group.Scheduling != probe.Infeasible && f.Group.Scheduling != probe.NoResources:
		return false
	default:
		return f.steady() >= max(g.settle, 2*interval)
	}
}

func (g *Gate) status(ctx context.Context, client *probe.Client, id string) (probe.Job, error) {
	raw, err := client.Do(ctx, http.MethodGet, probe.JobPath(id), nil)
	if err != nil {
		return probe.Job{}, err
	}
	return probe.ParseJob(raw)
}

// group is the placement group of a name; nil: not found. Groups that were removed remain in the list.
func (g *Gate) group(ctx context.Context, client *probe.Client, name string) (*probe.Group, []byte, error) {
	raw, err := client.Do(ctx, http.MethodGet, probe.GroupPath(name), nil)
	if err != nil {
		return nil, raw, err
	}
	all, err := probe.ParseGroups(raw)
	if err != nil {
		return nil, raw, err
	}
	one, err := named(all, name)
	return one, raw, err
}

// named is the group of a name that was not removed; nil: not found. In a list that is not complete that is an error.
func named(all probe.Groups, name string) (*probe.Group, error) {
	for _, one := range all.List {
		if one.Name == name && one.State != probe.Removed {
			return &one, nil
		}
	}
	if all.Missing != "" {
		return nil, fmt.Errorf("placement group %s: not found in a list that is not complete (%s): the head keeps groups that were removed until it restarts", name, all.Missing)
	}
	return nil, nil
}

// counts are the results of the tasks in a job's log.
func (g *Gate) counts(ctx context.Context, client *probe.Client, id string) ([]count, error) {
	raw, err := client.Do(ctx, http.MethodGet, probe.JobPath(id)+"/logs", nil)
	if err != nil {
		return nil, err
	}
	text, err := probe.ParseLogs(raw)
	if err != nil {
		return nil, err
	}
	return parseCounts(text), nil
}

// log is the end of a job's log, or why it cannot be read.
func (g *Gate) log(ctx context.Context, client *probe.Client, id string) string {
	raw, err := client.Do(ctx, http.MethodGet, probe.JobPath(id)+"/logs", nil)
	text := ""
	if err == nil {
		text, err = probe.ParseLogs(raw)
	}
	if err != nil {
		return "cannot read the log: " + err.Error()
	}
	return text[max(0, len(text)-maxLog):]
}

// stopAndDelete stops a job, waits until it has ended and deletes it. A job that is not found has ended.
func (g *Gate) stopAndDelete(ctx context.Context, client *probe.Client, id string) (found bool, err error) {
	for {
		j, err := g.status(ctx, client, id)
		if errors.Is(err, probe.ErrNotFound) {
			return found, nil
		}
		if err != nil {
			return found, fmt.Errorf("stop Ray job %s: %w", id, err)
		}
		found = true
		if j.Terminated() {
			if _, err := client.Do(ctx, http.MethodDelete, probe.JobPath(id), nil); err != nil && !errors.Is(err, probe.ErrNotFound) {
				return found, fmt.Errorf("delete Ray job %s: %w", id, err)
			}
			return found, nil
		}
		// Each time: a stop is lost if the job's supervisor has not started.
		if _, err := client.Do(ctx, http.MethodPost, probe.JobPath(id)+"/stop", nil); err != nil && !errors.Is(err, probe.ErrNotFound) {
			return found, fmt.Errorf("stop Ray job %s: %w", id, err)
		}
		if err := g.deps.Wait(ctx, interval/4); err != nil {
			return found, fmt.Errorf("stop Ray job %s, which is %s: %w", id, j.Status, err)
		}
	}
}

// removed waits until no group of the name is left; false: one still is when the time is over.
func (g *Gate) removed(ctx context.Context, client *probe.Client, name string) (bool, error) {
	for {
		left, _, err := g.group(ctx, client, name)
		if err != nil && ctx.Err() == nil {
			return false, err
		}
		if err == nil && left == nil {
			return true, nil
		}
		if g.deps.Wait(ctx, interval/4) != nil {
			return false, nil //nolint:nilerr // the time is over
		}
	}
}
