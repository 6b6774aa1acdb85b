package podpatch

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// References lists the objects that a patch refers to in the pod's namespace, such as
// "Secret hf-token", sorted. They must exist there before the pod is created. References that the
// patch marks as optional are left out.
func References(patch map[string]any) []string {
	template, problems := decode(patch)
	if len(problems) > 0 {
		return nil // Check reports them
	}
	r := &references{}
	for _, s := range template.Spec.ImagePullSecrets {
		r.add("Secret", s.Name, nil)
	}
	r.add("ServiceAccount", template.Spec.ServiceAccountName, nil)
	for _, c := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
		r.container(c)
	}
	for _, v := range template.Spec.Volumes {
		r.volume(v.VolumeSource)
	}
	slices.Sort(r.found)
	return slices.Compact(r.found)
}

type references struct{ found []string }

func (r *references) add(kind, name string, optional *bool) {
	if name != "" && (optional == nil || !*optional) {
		r.found = append(r.found, kind+" "+name)
	}
}

func (r *references) container(c corev1.Container) {
	for _, e := range c.EnvFrom {
		if s := e.SecretRef; s != nil {
			r.add("Secret", s.Name, s.Optional)
		}
		if m := e.ConfigMapRef; m != nil {
			r.add("ConfigMap", m.Name, m.Optional)
		}
	}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			continue
		}
		if s := e.ValueFrom.SecretKeyRef; s != nil {
			r.add("Secret", s.Name, s.Optional)
		}
		if m := e.ValueFrom.ConfigMapKeyRef; m != nil {
			r.add("ConfigMap", m.Name, m.Optional)
		}
	}
}

func (r *references) volume(v corev1.VolumeSource) {
	if v.Secret != nil {
		r.add("Secret", v.Secret.SecretName, v.Secret.Optional)
	}
	if v.ConfigMap != nil {
		r.add("ConfigMap", v.ConfigMap.Name, v.ConfigMap.Optional)
	}
	if v.PersistentVolumeClaim != nil {
		r.add("PersistentVolumeClaim", v.PersistentVolumeClaim.ClaimName, nil)
	}
	if v.Projected == nil {
		return
	}
	for _, s := range v.Projected.Sources {
		if s.Secret != nil {
			r.add("Secret", s.Secret.Name, s.Secret.Optional)
		}
		if s.ConfigMap != nil {
			r.add("ConfigMap", s.ConfigMap.Name, s.ConfigMap.Optional)
		}
	}
}
