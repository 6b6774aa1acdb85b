package inventory

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// GPUs are claimed where the site declares a class, and where nothing else offers them. A device plugin that has
// ended (amount 0) is a defect, which claims would hide.
func TestClass(t *testing.T) {
	t.Parallel()
	capacity := func(of string) corev1.ResourceList {
		switch of {
		case "":
			return nil
		case "mig":
			return corev1.ResourceList{"nvidia.com/mig-1g.10gb": resource.MustParse("7")}
		default:
			return corev1.ResourceList{kube.GPUResource: resource.MustParse(of)}
		}
	}
	notAllowed := apierrors.NewForbidden(schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceslices"}, "", errors.New("not in the roles of a site without a class"))
	for name, tt := range map[string]struct {
		stack    site.GPUStack
		capacity [2]string // of the nodes a and b; empty: without the resource
		sliced   []string
		refused  error
		want     string
		says     string
	}{
		"declared":                         {site.GPUStack{DeviceClass: Driver}, [2]string{"8", "8"}, nil, errors.New("not asked"), Driver, ""},
		"no driver is declared":            {site.GPUStack{DRADriver: site.DRANone}, [2]string{}, []string{"a", "b"}, nil, "", ""},
		"both":                             {site.GPUStack{}, [2]string{"8", "8"}, []string{"a", "b"}, errors.New("not asked"), "", ""},
		"claims alone":                     {site.GPUStack{}, [2]string{}, []string{"a", "b"}, nil, Driver, ""},
		"claims on one node alone":         {site.GPUStack{}, [2]string{}, []string{"b"}, nil, Driver, ""},
		"the plugin of all nodes ended":    {site.GPUStack{}, [2]string{"0", "0"}, []string{"a", "b"}, nil, "", ""},
		"the plugin of one node ended":     {site.GPUStack{}, [2]string{"", "0"}, []string{"a", "b"}, nil, "", ""},
		"a plugin on one node":             {site.GPUStack{}, [2]string{"", "8"}, []string{"a", "b"}, nil, "", ""},
		"neither":                          {site.GPUStack{}, [2]string{}, nil, nil, "", ""},
		"slices of other nodes":            {site.GPUStack{}, [2]string{}, []string{"c"}, nil, "", ""},
		"slices that cannot be listed":     {site.GPUStack{}, [2]string{}, []string{"a"}, errors.New("forbidden"), "", "gpustack.deviceClass"},
		"slices that may not be listed":    {site.GPUStack{}, [2]string{}, []string{"a"}, notAllowed, "", ""},
		"a class without the permission":   {site.GPUStack{DeviceClass: Driver}, [2]string{}, []string{"a"}, notAllowed, Driver, ""},
		"MIG devices are of a plugin, too": {site.GPUStack{}, [2]string{"mig", ""}, []string{"a", "b"}, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []runtime.Object{}
			for i, n := range []string{"a", "b"} {
				o := node(n, true, false)
				o.Status.Capacity = capacity(tt.capacity[i])
				objects = append(objects, o)
			}
			for _, n := range tt.sliced {
				s := published(n, Driver, n)
				objects = append(objects, &s)
			}
			client := fake.NewClientset(objects...)
			if tt.refused != nil {
				client.PrependReactor("list", "resourceslices", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tt.refused })
			}
			got, err := Class(t.Context(), &kube.Cluster{Client: client}, tt.stack, []string{"a", "b"})
			if got != tt.want || (err != nil) != (tt.says != "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// notServed answers every request for a version of the API as a server without it does.
func notServed(version string) clienttesting.ReactionFunc {
	return func(action clienttesting.Action) (bool, runtime.Object, error) {
		r := action.GetResource()
		if r.Group != "resource.k8s.io" || r.Version != version {
			return false, nil, nil
		}
		return true, nil, apierrors.NewNotFound(r.GroupResource(), "")
	}
}

// Clusters of Kubernetes 1.32 and 1.33 serve betas of the API only: objects are written and read in
// the form of the version that is served.
func TestSlicesOfABeta(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1beta2", "v1beta1", ""} {
		client := fake.NewClientset()
		for _, other := range []string{"v1", "v1beta2", "v1beta1"} {
			if other != version {
				client.PrependReactor("*", "*", notServed(other))
			}
		}
		cluster := &kube.Cluster{Client: client}
		want := published("a", Driver, "a")
		_, err := cluster.DRA().ResourceSlices().Create(t.Context(), &want, metav1.CreateOptions{})
		if version == "" {
			if all, listErr := ListSlices(t.Context(), cluster); !apierrors.IsNotFound(err) || !apierrors.IsNotFound(listErr) {
				t.Errorf("without the API: %v; %v, %v", err, all, listErr)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if stored, err := client.ResourceV1beta1().ResourceSlices().Get(t.Context(), want.Name, metav1.GetOptions{}); version == "v1beta1" && (err != nil || stored.Spec.Devices[0].Basic == nil) {
			t.Errorf("%+v, %v: a device is not in the form of v1beta1", stored, err)
		}
		all, err := ListSlices(t.Context(), cluster)
		if gpus, _, problems := GPUsOnNode(all, "a"); err != nil || len(gpus) != 1 || gpus[0].Device != "gpu-0" || len(problems) > 0 {
			t.Errorf("%s: %+v, %v, %v", version, gpus, problems, err)
		}
	}
}
