package component

// Purpose selects the components of a lab and their settings.
type Purpose string

// Purposes.
const (
	// Everything is the default lab.
	Everything Purpose = ""
	// Scheduling is a control plane that only places pods of simulated nodes, as many as it can:
	// etcd, kube-apiserver, the controllers that create pods and kube-scheduler. A pod is placed
	// when it is bound; without kubelets none becomes Running. It has no metrics, alerts, events,
	// service accounts, roles (every authenticated client may do anything) or extras and is
	// deleted after use. See scheduling.go.
	Scheduling Purpose = "scheduling"
	// Store keeps API objects and runs nothing: etcd and kube-apiserver. Its objects survive a
	// stop, a kill and a power failure. It has no extras.
	Store Purpose = "store"
)

func (c Config) forScheduling() []Component {
	return []Component{
		c.schedulingEtcd(), c.schedulingAPIServer(), c.schedulingControllerManager(), c.schedulingScheduler(),
	}
}
