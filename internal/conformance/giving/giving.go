// Package giving tries an extended resource: a pod that asks for one runs, and one that
// asks for more than any node has is refused by the scheduler, for it.
package giving

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/conformance/dra/record"
	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/conformance/standing"
)

// Kind of the observation that has a Tried for its figures.
const Kind = "pods-with-a-resource"

// Names of the pods.
const (
	one     = "one"
	tooMany = "too-many"
)

// Ask is what is tried.
type Ask struct {
	Check, Image string
	// Resource is asked for on Nodes, More of it by the pod that has to be refused.
	Resource string
	Nodes    []string
	More     int64
	Patience time.Duration
}

// Tried is what became of the two pods.
type Tried struct {
	Resource string     `json:"resource"`
	More     int64      `json:"more"`
	One      trial.Seen `json:"one"`
	TooMany  trial.Seen `json:"tooMany"`
}

// Try tries a resource in an open namespace, and keeps what it saw.
func Try(ctx context.Context, r trial.Runner, rec record.Notes, ask Ask) error {
	rec.Progress("a pod with one %s, and one with %d", ask.Resource, ask.More)
	n := rec.Begin(Kind, ask.Resource, fmt.Sprintf("create a Pod with one %s and a Pod with %d; read the first until it runs, the second until the scheduler has refused it", ask.Resource, ask.More))
	seen, unseen := try(ctx, r, ask)
	return errors.Join(n.Keep(seen, unseen), ctx.Err())
}

func try(ctx context.Context, r trial.Runner, ask Ask) (Tried, error) {
	out := Tried{Resource: ask.Resource, More: ask.More}
	for _, p := range []struct {
		name string
		n    int64
		seen *trial.Seen
	}{{one, 1, &out.One}, {tooMany, ask.More, &out.TooMany}} {
		spec := trial.Spec{
			Name: p.name, Check: ask.Check, Image: ask.Image, Nodes: ask.Nodes, Limits: map[string]int64{ask.Resource: p.n},
			Containers: []trial.Container{{Name: "asker", Script: trial.Sleep}},
		}
		if err := r.Start(ctx, spec); err != nil {
			return out, err //nolint:wrapcheck // says what it creates
		}
		seen, err := r.Await(ctx, ask.Patience, p.name, func(s trial.Seen) bool { return s.Runs() || s.Over() || s.Refused() })
		if err != nil {
			return out, err //nolint:wrapcheck // says what it reads
		}
		*p.seen = seen
	}
	return out, nil
}

// Judge adds to an account what was tried, and says whether a pod had one.
func (t Tried) Judge(a *standing.Account, id string) bool {
	const image = "set telemetry.loadImage in the site file to an image that the nodes can pull"
	switch {
	case strings.Contains(t.One.State(), "ImagePull"):
		a.Unseen(id, "pod "+t.One.Pod, "its image could not be pulled: "+t.One.State(), image)
	case t.One.Refused():
		a.Unseen(id, "pod "+t.One.Pod, "no "+t.Resource+" was free: "+t.One.State(), "run the check when one is free")
	case !t.One.Runs():
		a.Lacks(id, "pod "+t.One.Pod, "it asks for one "+t.Resource+", and does not run: "+t.One.State(), "look at the events of the pod")
	case t.TooMany.Runs() || t.TooMany.Over() || t.TooMany.Node != "":
		a.Lacks(id, "pod "+t.TooMany.Pod, fmt.Sprintf("it asks for %d of %s, which no node has, and was placed: the resource is not accounted for", t.More, t.Resource), "see who places pods")
	case !t.TooMany.Refused() || !strings.Contains(t.TooMany.Scheduled.Message, t.Resource):
		a.Unseen(id, "pod "+t.TooMany.Pod, "it was not refused for "+t.Resource+": "+t.TooMany.State(), "look at the scheduler's log")
	default:
		a.Has("a pod with one %s ran on %s, and one that asked for %d was refused", t.Resource, t.One.Node, t.More)
		return true
	}
	return false
}
