package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// kinds are the names of the kinds that a scheduler places as gangs, in the order of preference
// of Auto: the scheduler's own, then those of operators, then Kubernetes' own. The operators of
// other kinds drop the field by which pods name a native PodGroup, and KAI 0.12 and older groups
// the pods of an MPIJob only.
func kinds(scheduler string) []string {
	switch scheduler {
	case "kai":
		return []string{"mpijob", "trainjob", "jobset", JobKind}
	case "volcano":
		return []string{"vcjob", "trainjob", "jobset", "mpijob", JobKind}
	case "kueue":
		return []string{"trainjob", "jobset", "mpijob", JobKind}
	default:
		return []string{JobKind}
	}
}

// CheckKind returns an error for a kind that a scheduler does not place as a gang. Auto is
// valid for both.
func CheckKind(scheduler, kind string) error {
	if scheduler == "" || scheduler == Auto || kind == "" || kind == Auto || slices.Contains(kinds(scheduler), kind) {
		return nil
	}
	return fmt.Errorf("gang scheduler %s cannot place a gang of kind %s: want one of %s", scheduler, kind, strings.Join(kinds(scheduler), ", "))
}

// SelectKind returns the kind of the gangs of a scheduler: the wanted one, or with Auto the
// first whose API the cluster serves. Kubernetes' own is nil.
func SelectKind(ctx context.Context, cluster *kube.Cluster, scheduler Scheduler, want, queue string) (Kind, error) {
	if err := CheckKind(scheduler.Name(), want); err != nil {
		return nil, err
	}
	for _, name := range kinds(scheduler.Name()) {
		if want != "" && want != Auto && want != name {
			continue
		}
		kind := kindOf(name, queue)
		if kind == nil {
			return nil, nil
		}
		r := kind.Resource()
		served, err := serves(ctx, cluster, schema.GroupVersion{Group: r.Group, Version: r.Version}, r.Resource)
		if err != nil {
			return nil, fmt.Errorf("detect kind %s: %w", name, err)
		}
		if served {
			return kind, nil
		}
	}
	return nil, fmt.Errorf("the cluster does not serve kind %s: install its operator, or correct gpustack.jobKind in the site file", want)
}

func kindOf(name, queue string) Kind {
	switch name {
	case "jobset":
		return JobSet{}
	case "trainjob":
		return TrainJob{}
	case "mpijob":
		return MPIJob{}
	case "vcjob":
		if queue == "" {
			queue = volcanoQueue
		}
		return VolcanoJob{Queue: queue}
	default:
		return nil
	}
}

// KindResource is the resource of a kind, such as jobs.batch or mpijobs.kubeflow.org.
func KindResource(name string) string {
	if kind := kindOf(name, ""); kind != nil {
		return kind.Resource().GroupResource().String()
	}
	return "jobs.batch"
}
