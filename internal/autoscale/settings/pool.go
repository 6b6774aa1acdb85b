package settings

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// pool reads the delays of a NodePool: registration, consolidation and termination.
func (f *finder) pool(ctx context.Context) {
	class := f.w.Site.Autoscale.NodeClass
	if f.w.Consolidate > 0 {
		f.add(snapshot.SettingConsolidate, f.w.Consolidate, "NodePool of this run", false)
	} else {
		class = f.given(ctx)
	}
	f.registration(ctx, class)
	f.add(snapshot.SettingDisruption, karpenterPoll, "Karpenter's own constant", false)
	f.add(snapshot.SettingValidation, karpenterValidation, "Karpenter's own constant", false)
	if class.Group == kwokGroup {
		f.add(snapshot.SettingTermination, karpenterDrain, "Karpenter's least drain time; "+class.Kind+" ends at once", false)
		return
	}
	f.add(snapshot.SettingTermination, karpenterDrain+endTime, "Karpenter's least drain time, and what an instance takes to end", true)
}

// kwokGroup is the API group of the KWOK provider's node classes.
const kwokGroup = "karpenter.kwok.sh"

// given reads an existing NodePool and returns its node class.
func (f *finder) given(ctx context.Context) site.NodeClass {
	source := "NodePool " + f.w.Pool
	u, err := f.w.Cluster.Dynamic.Resource(kube.NodePools()).Get(ctx, f.w.Pool, metav1.GetOptions{})
	if err != nil {
		f.add(snapshot.SettingConsolidate, 0, "upstream default; "+source+" could not be read", true)
		return site.NodeClass{}
	}
	after, _, _ := unstructured.NestedString(u.Object, "spec", "disruption", "consolidateAfter")
	if d, ok := span(after, 0); ok {
		f.add(snapshot.SettingConsolidate, d, source, false)
	} else {
		f.add(snapshot.SettingConsolidate, 0, fmt.Sprintf("%s says %q", source, after), true)
	}
	ref, _, _ := unstructured.NestedStringMap(u.Object, "spec", "template", "spec", "nodeClassRef")
	return site.NodeClass{Group: ref["group"], Kind: ref["kind"], Name: ref["name"]}
}

// registration reads the node class's delay, which only Karpenter's KWOK provider has.
func (f *finder) registration(ctx context.Context, class site.NodeClass) {
	source := class.Kind + " " + class.Name
	u, err := f.nodeClass(ctx, class)
	if err != nil {
		f.add(snapshot.SettingRegistration, bootTime, "assumed: boot time of a GPU instance", true)
		return
	}
	delay, stated, _ := unstructured.NestedString(u.Object, "spec", "nodeRegistrationDelay")
	d, ok := span(delay, 0)
	switch {
	case stated && ok:
		f.add(snapshot.SettingRegistration, d, source, false)
	case class.Group == kwokGroup:
		f.add(snapshot.SettingRegistration, 0, source+" states no delay", false)
	default:
		f.add(snapshot.SettingRegistration, bootTime, "assumed: boot time of a GPU instance", true)
	}
}

func (f *finder) nodeClass(ctx context.Context, class site.NodeClass) (*unstructured.Unstructured, error) {
	groups, err := f.w.Cluster.Client.Discovery().ServerGroups()
	if err != nil {
		return nil, fmt.Errorf("discover node classes: %w", err)
	}
	for _, g := range groups.Groups {
		if g.Name != class.Group {
			continue
		}
		r := schema.GroupVersionResource{Group: class.Group, Version: g.PreferredVersion.Version, Resource: strings.ToLower(class.Kind) + "es"}
		u, err := f.w.Cluster.Dynamic.Resource(r).Get(ctx, class.Name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", class.Kind, class.Name, err)
		}
		return u, nil
	}
	return nil, fmt.Errorf("the cluster does not have %s", class.Group)
}
