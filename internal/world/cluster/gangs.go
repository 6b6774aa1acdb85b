package cluster

import (
	"cmp"
	"context"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// member is one running pod of a job.
type member struct {
	index int
	host  string // result of gethostname in the pod
	ip    string
	node  string
	gpus  []int
}

// gang has the running pods of one job.
type gang struct {
	mu      sync.Mutex
	members map[int]member
	changed *broadcast
	over    bool // rank 0 has ended
}

// gangs maps jobs to gangs.
type gangs struct {
	mu  sync.Mutex
	all map[string]*gang
}

func newGangs() *gangs { return &gangs{all: map[string]*gang{}} }

// join adds a running pod to its job's gang; leave removes it.
func (g *gangs) join(key string, m member) (joined *gang, leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.all[key]
	if one == nil {
		one = &gang{members: map[int]member{}, changed: newBroadcast()}
		g.all[key] = one
	}
	one.mu.Lock()
	one.members[m.index] = m
	one.mu.Unlock()
	one.changed.notify()
	return one, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		one.mu.Lock()
		defer one.mu.Unlock()
		delete(one.members, m.index)
		if len(one.members) == 0 && g.all[key] == one {
			delete(g.all, key)
		}
	}
}

// complete waits for n members with indices 0 to n-1 and returns them in order.
func (g *gang) complete(ctx context.Context, n int) ([]member, error) {
	for {
		changed := g.changed.wait()
		if all := g.first(n); all != nil {
			return all, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

func (g *gang) first(n int) []member {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]member, 0, n)
	for i := range n {
		m, ok := g.members[i]
		if !ok {
			return nil
		}
		all = append(all, m)
	}
	return all
}

// end signals the end of rank 0.
func (g *gang) end() {
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	g.changed.notify()
}

// ended waits for the end of rank 0.
func (g *gang) ended(ctx context.Context) error {
	for {
		changed := g.changed.wait()
		g.mu.Lock()
		over := g.over
		g.mu.Unlock()
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// Labels of the pods of an MPIJob: launcher and workers have different controllers.
const (
	mpiJobName = "training.kubeflow.org/job-name"
	mpiJobRole = "training.kubeflow.org/job-role"
	mpiReplica = "training.kubeflow.org/replica-index"
)

// gangKey identifies a pod's job by its controller's UID, because job names are reused.
func gangKey(pod *corev1.Pod) string {
	if name := pod.Labels[mpiJobName]; name != "" {
		return "mpijob " + pod.Namespace + "/" + name
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return string(owner.UID)
	}
	return string(pod.UID)
}

// hostname is the pod's own host name.
func hostname(pod *corev1.Pod) string {
	switch {
	case pod.Spec.HostNetwork:
		return pod.Spec.NodeName
	case pod.Spec.Hostname != "":
		return pod.Spec.Hostname
	default:
		return pod.Name
	}
}

// rankOf is a pod's completion index; 0 for a pod without an indexed job. The launcher of an MPIJob
// comes before its workers.
func rankOf(pod *corev1.Pod) int {
	if index, worker := pod.Labels[mpiReplica]; worker && pod.Labels[mpiJobRole] == "worker" {
		return number(index) + 1
	}
	return number(cmp.Or(pod.Annotations[batchv1.JobCompletionIndexAnnotation], pod.Labels[batchv1.JobCompletionIndexAnnotation],
		pod.Labels["volcano.sh/task-index"]))
}

// number is a decimal number; 0 for another text.
func number(text string) int {
	n := 0
	for _, c := range strings.TrimSpace(text) {
		if c < '0' || c > '9' {
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}
