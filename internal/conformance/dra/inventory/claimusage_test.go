package inventory

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// A node offers the GPUs of its slices; a node that is not open offers none. GPUs that claims or
// pods of the device plugin hold are not free.
func TestClaimUsage(t *testing.T) {
	t.Parallel()
	holders := []string{"claim team/one", "pod team/train"}
	held := []kube.Holder{{Pod: holders[0]}, {Pod: holders[1]}}
	for name, tt := range map[string]struct {
		gpus NodeGPUs
		want kube.Usage
		free int
	}{
		"free":     {NodeGPUs{Open: true, Offered: 8}, kube.Usage{Allocatable: 8}, 8},
		"held":     {NodeGPUs{Open: true, Offered: 8, Allocated: 2, Holders: holders[:1]}, kube.Usage{Allocatable: 8, Requested: 2, Holders: held[:1]}, 6},
		"plugged":  {NodeGPUs{Open: true, Offered: 8, Allocated: 2, Plugged: 1, Holders: holders}, kube.Usage{Requested: 3, Holders: held}, 0},
		"cordoned": {NodeGPUs{Offered: 8}, kube.Usage{}, 0},
		"nothing":  {NodeGPUs{Open: true}, kube.Usage{}, 0},
	} {
		got := tt.gpus.usage()
		if diff := cmp.Diff(tt.want, got); diff != "" || got.Free() != tt.free {
			t.Errorf("%s: %d free (-want +got):\n%s", name, got.Free(), diff)
		}
	}
}

// GPUs are claimed where the driver offers those of every node, and requested of the device plugin where
// the cluster has no driver. A driver that offers none, or not those of every node, is an error.
func TestOffered(t *testing.T) {
	t.Parallel()
	forNode := func(node string) runtime.Object {
		s := published(node, Driver, node)
		return &s
	}
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: Driver}}
	notServed := apierrors.NewNotFound(schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceslices"}, "")
	for name, tt := range map[string]struct {
		objects       []runtime.Object
		slices, class error // of the API
		want, says    string
	}{
		"every node":             {[]runtime.Object{class, forNode("a"), forNode("b"), forNode("c")}, nil, nil, Driver, ""},
		"no driver":              {nil, nil, nil, "", ""},
		"not served":             {nil, notServed, nil, "", ""},
		"no slice is left":       {[]runtime.Object{class}, nil, nil, "", "no ResourceSlice offers a GPU"},
		"slices of another node": {[]runtime.Object{class, forNode("z")}, nil, nil, "", "no ResourceSlice offers a GPU"},
		"some nodes":             {[]runtime.Object{class, forNode("b")}, nil, nil, "", "offer no GPU of a, c, and"},
		"slices are refused":     {nil, errors.New("forbidden"), nil, "", "list resource slices: forbidden"},
		"the class is refused":   {nil, nil, errors.New("forbidden"), "", "get DeviceClass gpu.nvidia.com: forbidden"},
	} {
		client := fake.NewClientset(tt.objects...)
		for resource, err := range map[string]error{"resourceslices": tt.slices, "deviceclasses": tt.class} {
			if err != nil {
				client.PrependReactor("*", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
			}
		}
		got, err := Offered(t.Context(), &kube.Cluster{Client: client}, []string{"a", "b", "c"})
		if got != tt.want || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %q, %v, want %q, %q", name, got, err, tt.want, tt.says)
		}
	}
}
