package kube

import (
	"context"
	"errors"
)

// Leftover is an object that carries the label of a run.
type Leftover struct {
	RunID     string `json:"run"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

// Leftovers lists the objects of all runs of this user in the cluster.
func (g Guest) Leftovers(ctx context.Context) ([]Leftover, error) { return g.left(ctx, LabelRun) }

// LeftOf lists the objects of one run, as the user who created them (see listCreated). It
// returns the objects it could list together with the errors of the kinds that it could not.
func (g Guest) LeftOf(ctx context.Context, runID string) ([]Leftover, error) {
	if runID == "" {
		return nil, errors.New("list leftovers: run ID is empty")
	}
	return g.left(ctx, LabelRun+"="+runID)
}

func (g Guest) left(ctx context.Context, selector string) ([]Leftover, error) {
	var out []Leftover
	var problems []error
	cluster := g.Cluster.withReviews()
	for _, k := range cluster.labelled() {
		list, err := cluster.listCreated(ctx, k, selector)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for i := range list.Items {
			o := &list.Items[i]
			out = append(out, Leftover{RunID: o.GetLabels()[LabelRun], Kind: k.name, Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID())})
		}
	}
	return out, errors.Join(append(problems, cluster.notListed())...)
}
