package operand

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

// cluster has the operands' pods of gpu-02, as created by their DaemonSets.
type cluster struct {
	t     *testing.T
	store cache.Indexer
	*Operands
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	w, err := world.New(world.DefaultSpec(4), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, byNode: indexers[byNode]})
	c := &cluster{t: t, store: store, Operands: &Operands{world: w, pods: corelisters.NewPodLister(store).Pods(Namespace), index: store, installing: map[types.UID]time.Time{}}}
	for _, app := range []string{Driver, Toolkit, DevicePlugin, Exporter, Features, MIGManager, Validator} {
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: Namespace, Name: app, UID: types.UID(app), Labels: map[string]string{"app": app}, Annotations: map[string]string{holdAnnotation: holdCreating},
				OwnerReferences: []metav1.OwnerReference{{Kind: "DaemonSet", Name: app, Controller: new(true)}},
			},
			Spec: corev1.PodSpec{NodeName: "gpu-02"},
		}
		c.put(p)
	}
	return c
}

func (c *cluster) put(p *corev1.Pod) {
	c.t.Helper()
	if err := c.store.Update(p); err != nil {
		c.t.Fatal(err)
	}
}

// kwok applies the holds.
func (c *cluster) kwok() {
	for _, obj := range c.store.List() {
		p := obj.(*corev1.Pod).DeepCopy()
		started := metav1.Now()
		p.Status.StartTime, p.Status.Phase = &started, corev1.PodRunning
		ready := corev1.ConditionFalse
		switch p.Annotations[holdAnnotation] {
		case holdCreating:
			p.Status.Phase = corev1.PodPending
		case "":
			ready = corev1.ConditionTrue
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
		c.put(p)
	}
}

// step applies the changes of holds and returns the changed pods.
func (c *cluster) step(now time.Time) (changed []string) {
	c.t.Helper()
	changes, err := c.holds(now)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, ch := range changes {
		p := ch.pod.DeepCopy()
		delete(p.Annotations, holdAnnotation)
		if ch.want != "" {
			p.Annotations[holdAnnotation] = ch.want
		}
		name := p.Name
		if ch.restart {
			p.Annotations[holdAnnotation], p.UID, p.Status, name = holdCreating, p.UID+"-again", corev1.PodStatus{}, "restart "+name
		}
		c.put(p)
		changed = append(changed, name)
	}
	slices.Sort(changed)
	return changed
}

func (c *cluster) expect(now time.Time, want ...string) {
	c.t.Helper()
	slices.Sort(want)
	if got := c.step(now); !slices.Equal(got, want) {
		c.t.Fatalf("changed %v, want %v", got, want)
	}
}

func (c *cluster) fault(kind string, options map[string]string) {
	c.t.Helper()
	if _, err := c.world.AddFault(world.Fault{Kind: kind, Target: "gpu-02", Options: options}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) running(now time.Time) {
	c.t.Helper()
	for range 10 {
		c.kwok()
		now = now.Add(driverInstall)
		c.step(now)
	}
	c.kwok()
	c.expect(now)
}

// Containers start in the order of what they wait for; a driver takes time; nothing changes before
// kwok has applied the last change.
func TestOrderOfStart(t *testing.T) {
	t.Parallel()
	c, now := newCluster(t), time.Unix(0, 0)
	c.expect(now) // kwok has not seen them
	c.kwok()
	c.expect(now, Driver) // its container runs
	c.expect(now)
	c.kwok()
	c.expect(now.Add(driverInstall / 2))
	now = now.Add(driverInstall)
	c.expect(now, Driver)
	c.expect(now)
	c.kwok()
	c.expect(now, Toolkit)
	c.kwok()
	c.expect(now, DevicePlugin, Exporter, Features, MIGManager)
	c.kwok()
	c.expect(now, Validator)
	c.kwok()
	c.expect(now)
}

func TestFaultsOfOperands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind    string
		options map[string]string
		during  []string
		after   []string
	}{
		"not ready":       {"operator-operand-not-ready", map[string]string{"operand": Exporter}, []string{Exporter}, []string{Exporter}},
		"driver":          {"operator-operand-not-ready", map[string]string{"operand": Driver}, []string{Driver}, []string{Driver}},
		"MIG":             {"mig-half-applied", nil, []string{DevicePlugin}, []string{DevicePlugin}},
		"CUDA, a restart": {"cuda-validation-failed", nil, []string{"restart " + Validator}, []string{Validator}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, now := newCluster(t), time.Unix(0, 0)
			c.running(now)
			c.fault(tt.kind, tt.options)
			c.expect(now, tt.during...)
			c.kwok()
			if tt.kind == "cuda-validation-failed" {
				changes, err := c.holds(now)
				if err != nil || len(changes) != 1 || changes[0].want != holdCreating {
					t.Fatalf("the new pod does not crash: %+v, %v", changes, err)
				}
			} else {
				c.expect(now)
			}
			c.world.ClearAll()
			c.expect(now, tt.after...)
			c.kwok()
			c.expect(now)
		})
	}
}

// A pod whose image has a name that cannot be read never starts, as with a value of a chart that is a map: the lab's
// pods had run with any name.
func TestImagesWithInvalidNames(t *testing.T) {
	t.Parallel()
	c, now := newCluster(t), time.Unix(0, 0)
	obj, _, err := c.store.GetByKey(Namespace + "/" + Driver)
	if err != nil {
		t.Fatal(err)
	}
	driver := obj.(*corev1.Pod).DeepCopy()
	driver.Spec.Containers = []corev1.Container{{Name: "driver", Image: "nvcr.io/nvidia/driver:map[a:b]-ubuntu22.04"}}
	c.put(driver)
	c.kwok()
	changes, err := c.holds(now)
	if err != nil || len(changes) != 1 || !changes[0].invalid || changes[0].pod.Name != Driver {
		t.Fatalf("%+v, %v", changes, err)
	}
	driver.Status.ContainerStatuses = waitingForImages(driver.Spec.Containers)
	if w := driver.Status.ContainerStatuses[0].State.Waiting; w.Reason != "InvalidImageName" || !refused(driver) {
		t.Errorf("%+v", w)
	}
	driver.Spec.Containers[0].Image = "nvcr.io/nvidia/driver:580.105.08-ubuntu22.04"
	driver.Status.ContainerStatuses = nil
	c.put(driver)
	c.kwok()
	c.expect(now, Driver)
}
