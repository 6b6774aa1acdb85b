package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Auto selects the first detected gang scheduler.
const Auto = "auto"

// Detected is a gang scheduler whose API the cluster serves. A served API does not prove that
// a scheduler uses it.
type Detected struct {
	Name string `json:"name"`
	// API is the served group and version.
	API string `json:"api"`
}

// candidate is the API by which a gang scheduler is detected.
type candidate struct {
	name     string
	versions []schema.GroupVersion
	resource string
}

// candidates are in the order of preference of Auto: an installed gang scheduler, then the
// built-in one, then quota alone.
func candidates() []candidate {
	var native []schema.GroupVersion
	for _, version := range kube.PodGroupVersions() {
		native = append(native, kube.PodGroupsOf(version).GroupVersion())
	}
	return []candidate{
		{"kai", []schema.GroupVersion{KAI{}.GroupResource().GroupVersion()}, "podgroups"},
		{"volcano", []schema.GroupVersion{Volcano{}.GroupResource().GroupVersion()}, "podgroups"},
		{"native", native, "podgroups"},
		{"kueue", []schema.GroupVersion{{Group: "kueue.x-k8s.io", Version: "v1beta2"}, {Group: "kueue.x-k8s.io", Version: "v1beta1"}}, "workloads"},
	}
}

// DetectGang lists the gang schedulers whose API the cluster serves, in order of preference.
// want limits them to one name; "auto" or "" is all. An empty list is not an error.
func DetectGang(ctx context.Context, cluster *kube.Cluster, want string) ([]Detected, error) {
	var found []Detected
	known := false
	for _, c := range candidates() {
		if want != "" && want != Auto && want != c.name {
			continue
		}
		known = true
		for _, gv := range c.versions {
			served, err := serves(ctx, cluster, gv, c.resource)
			if err != nil {
				return nil, fmt.Errorf("detect gang scheduler %s: %w", c.name, err)
			}
			if served {
				found = append(found, Detected{Name: c.name, API: gv.String()})
				break
			}
		}
	}
	if !known {
		return nil, fmt.Errorf("unknown gang scheduler %q: want one of %s, %s", want, schedulerNames(), Auto)
	}
	return found, nil
}

func serves(ctx context.Context, cluster *kube.Cluster, gv schema.GroupVersion, resource string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	list, err := cluster.Client.Discovery().ServerResourcesForGroupVersion(gv.String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("discover %s: %w", gv, err)
	}
	for _, r := range list.APIResources {
		if r.Name == resource {
			return true, nil
		}
	}
	return false, nil
}

func schedulerNames() string {
	var names []string
	for _, c := range candidates() {
		names = append(names, c.name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Scheduler returns the Scheduler of a detected API. queue is used by schedulers with queues.
func (d Detected) Scheduler(queue string) (Scheduler, error) {
	gv, err := schema.ParseGroupVersion(d.API)
	if err != nil {
		return nil, fmt.Errorf("gang scheduler %s: %w", d.Name, err)
	}
	switch d.Name {
	case "native":
		return Native{Version: gv.Version}, nil
	case "kai":
		return KAI{Queue: queue}, needsQueue(d.Name, queue)
	case "volcano":
		if queue == "" {
			queue = volcanoQueue
		}
		return Volcano{Queue: queue}, nil
	case "kueue":
		return Kueue{Queue: queue, Version: gv.Version}, needsQueue(d.Name, queue)
	default:
		return nil, fmt.Errorf("unknown gang scheduler %q: want one of %s", d.Name, schedulerNames())
	}
}

func needsQueue(name, queue string) error {
	if queue == "" {
		return fmt.Errorf("gang scheduler %s requires a queue: set gpustack.queue in the site file", name)
	}
	return nil
}

// Select returns the first detected gang scheduler.
func Select(ctx context.Context, cluster *kube.Cluster, want, queue string) (Scheduler, error) {
	found, err := DetectGang(ctx, cluster, want)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no gang scheduler found: the cluster serves none of the APIs of %s", orAny(want))
	}
	return found[0].Scheduler(queue)
}

func orAny(want string) string {
	if want == "" || want == Auto {
		return schedulerNames()
	}
	return want
}
