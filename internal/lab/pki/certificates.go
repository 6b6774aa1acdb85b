package pki

type certificate struct {
	file, signer string
	Request
}

// certificates are all certificates of a lab except its CAs.
func certificates(addr string) []certificate {
	local := []string{addr, "localhost", "127.0.0.1"}
	serve := func(names ...string) []string { return append(append([]string(nil), local...), names...) }
	return []certificate{
		{Etcd, EtcdCA, Request{CommonName: "etcd", Hosts: local, Client: true}},
		{EtcdPeer, EtcdCA, Request{CommonName: "etcd-peer", Hosts: local, Client: true}},
		{EtcdClient, EtcdCA, Request{CommonName: "kube-apiserver-etcd-client", Client: true}},
		{FrontProxyClient, FrontProxyCA, Request{CommonName: "front-proxy-client", Client: true}},
		{APIServer, CA, Request{CommonName: "kube-apiserver", Hosts: serve(
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")}},
		{KubeletClient, CA, Request{CommonName: "kube-apiserver-kubelet-client", Organizations: []string{"system:masters"}, Client: true}},
		{ControllerManager, CA, Request{CommonName: "system:kube-controller-manager", Hosts: local, Client: true}},
		{Scheduler, CA, Request{CommonName: "system:kube-scheduler", Hosts: local, Client: true}},
		{Kwok, CA, Request{CommonName: "firstlight:kwok", Hosts: local, Client: true}},
		{Prometheus, CA, Request{CommonName: "firstlight:prometheus", Hosts: local, Client: true}},
		{Alertmanager, CA, Request{CommonName: "firstlight:alertmanager", Hosts: local}},
		{Adapter, CA, Request{CommonName: "firstlight:prometheus-adapter", Hosts: serve(
			"prometheus-adapter.monitoring.svc", "prometheus-adapter.monitoring.svc.cluster.local"), Client: true}},
		{Karpenter, CA, Request{CommonName: "firstlight:karpenter", Client: true}},
		{KAIScheduler, CA, Request{CommonName: "firstlight:kai-scheduler", Client: true}},
		{KAIBinder, CA, Request{CommonName: "firstlight:kai-binder", Client: true}},
		{KAIPodGrouper, CA, Request{CommonName: "firstlight:kai-podgrouper", Client: true}},
		{VolcanoScheduler, CA, Request{CommonName: "firstlight:volcano-scheduler", Client: true}},
		{VolcanoControllers, CA, Request{CommonName: "firstlight:volcano-controllers", Client: true}},
		{Kueue, CA, Request{CommonName: "firstlight:kueue", Client: true}},
		{JobSet, CA, Request{CommonName: "firstlight:jobset", Hosts: serve("jobset-webhook-service.jobset-system.svc"), Client: true}},
		{KubeflowTrainer, CA, Request{CommonName: "firstlight:kubeflow-trainer", Hosts: serve(
			"kubeflow-trainer-controller-manager.kubeflow-system.svc"), Client: true}},
		{MPIOperator, CA, Request{CommonName: "firstlight:mpi-operator", Client: true}},
		{KubeRay, CA, Request{CommonName: "firstlight:kuberay-operator", Client: true}},
		// The ServiceAccounts of the GPU Operator's chart, which has their roles.
		{GPUOperator, CA, Request{CommonName: "system:serviceaccount:gpu-operator:gpu-operator", Client: true}},
		{NFDMaster, CA, Request{CommonName: "system:serviceaccount:gpu-operator:node-feature-discovery", Client: true}},
		{Admin, CA, Request{CommonName: "firstlight:admin", Organizations: []string{"system:masters"}, Client: true}},
	}
}
