package site

// notOnRay are the gates whose pods need free GPUs, which the workers of the RayCluster have. A site declares
// that they do not apply, so that a run without them is its owner's decision.
var notOnRay = []string{"telemetry", "collective", "training", "inference"}

// ray validates what spine ray adds to a Kubernetes cluster.
func (v *validator) ray(s *Site) {
	if !s.OnRay() {
		if s.Ray != nil {
			v.add("ray", "has no effect with spine %s: remove it", s.Spine)
		}
		return
	}
	if s.Ray == nil {
		v.add("ray", "is missing; for example {namespace: ray, cluster: ray}")
		return
	}
	for path, name := range map[string]string{"ray.namespace": s.Ray.Namespace, "ray.cluster": s.Ray.Cluster} {
		if !dnsLabel.MatchString(name) {
			v.add(path, "invalid name %q: must be that of a Kubernetes object", name)
		}
	}
	if len(s.Groups) > 0 {
		v.add("groups", "has no effect with spine ray: the bundles of a placement group are alike; remove it")
	}
	if s.GPUStack.MIG != nil || s.GPUStack.DeviceClass != "" {
		v.add("gpustack", "mig and deviceClass are not supported with spine ray: workers have whole GPUs, nvidia.com/gpu")
	}
	for _, gate := range notOnRay {
		if s.NotApplicable[gate] == "" {
			v.add("notApplicable."+gate, "is missing: the pods of gate %s need free GPUs, which Ray's workers have; declare it, with what takes its place", gate)
		}
	}
}
