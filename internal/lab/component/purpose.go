package component

// Purpose is what a lab is for: it decides which components there are, and how
// they are set.
type Purpose string

// The purposes of labs.
const (
	// Everything is the lab as people use it.
	Everything Purpose = ""
	// Scheduling is a control plane whose only work is to place pods of simulated
	// nodes, as many as it can: etcd, kube-apiserver, the controllers that make pods
	// and kube-scheduler. A pod is placed when it is bound: there is nothing that plays
	// the kubelets, so none is Running. It has no metrics, no alerts, no events, no
	// service accounts, no roles (who is known may do anything) and no extras; it is
	// thrown away after use. See scheduling.go.
	Scheduling Purpose = "scheduling"
	// Store keeps API objects and runs nothing: etcd and kube-apiserver. What it keeps is
	// there again after it was stopped, killed or cut off from power. It has no extras.
	Store Purpose = "store"
)

// forScheduling are the components of a lab for scheduling.
func (c Config) forScheduling() []Component {
	return []Component{
		c.schedulingEtcd(), c.schedulingAPIServer(), c.schedulingControllerManager(), c.schedulingScheduler(),
	}
}
