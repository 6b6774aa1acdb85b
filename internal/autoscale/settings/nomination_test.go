package settings

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// Karpenter keeps a node that it chose for a pending pod for twice its longest batch, at least 10 s.
func TestNominationWindow(t *testing.T) {
	t.Parallel()
	const rule = "Karpenter: twice karpenter-batch-max, at least 10s; "
	for name, tt := range map[string]struct {
		env      string
		settings map[string]site.Duration
		want     snapshot.Setting
	}{
		"the default":      {"", nil, snapshot.Setting{Value: metav1.Duration{Duration: 20 * time.Second}, Source: rule + "upstream default; Deployment kube-system/karpenter does not set it", Assumed: true}},
		"a longer batch":   {"30s", nil, snapshot.Setting{Value: metav1.Duration{Duration: time.Minute}, Source: rule + "Deployment kube-system/karpenter BATCH_MAX_DURATION"}},
		"a short batch":    {"1s", nil, snapshot.Setting{Value: metav1.Duration{Duration: 10 * time.Second}, Source: rule + "Deployment kube-system/karpenter BATCH_MAX_DURATION"}},
		"the site's batch": {"1s", map[string]site.Duration{snapshot.SettingBatchMax: site.Duration(7 * time.Second)}, snapshot.Setting{Value: metav1.Duration{Duration: 14 * time.Second}, Source: rule + "site autoscale.settings.karpenter-batch-max"}},
		"the site's own":   {"1s", map[string]site.Duration{snapshot.SettingNomination: site.Duration(time.Second)}, snapshot.Setting{Value: metav1.Duration{Duration: time.Second}, Source: "site autoscale.settings.nomination-window"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "karpenter"}}
			c := corev1.Container{Name: "controller"}
			if tt.env != "" {
				c.Env = []corev1.EnvVar{{Name: "BATCH_MAX_DURATION", Value: tt.env}}
			}
			d.Spec.Template.Spec.Containers = []corev1.Container{c}
			s := &site.Site{Autoscale: site.Autoscale{Autoscaler: site.Karpenter, Controller: "kube-system/karpenter", Settings: tt.settings}}
			f := &finder{w: Where{Cluster: &kube.Cluster{Client: fake.NewClientset(d)}, Site: s}}
			f.karpenter(t.Context())
			f.override(s.Autoscale.Settings)
			f.nomination()
			f.sort()
			tt.want.Name = snapshot.SettingNomination
			var got []snapshot.Setting
			for _, x := range f.found.Settings {
				if x.Name == snapshot.SettingNomination {
					got = append(got, x)
				}
			}
			if diff := cmp.Diff([]snapshot.Setting{tt.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
