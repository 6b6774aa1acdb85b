package component

import (
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// etcdSocket is etcd's client socket, in the directory that all components run in. Only this user can
// enter it, so it needs no encryption, which took a third of etcd's CPU at a start.
const etcdSocket = "unix://etcd.sock"

// Etcd builds etcd.
func (c Config) Etcd() Component {
	p := c.PKI()
	// With HTTP on a separate port, etcd serves gRPC directly.
	health, peer := c.url(c.Ports.Etcd), c.url(c.Ports.EtcdPeer)
	return Component{
		Name: Etcd,
		Argv: []string{
			"--name=lab",
			"--data-dir=" + c.Data(Etcd),
			"--listen-client-urls=" + etcdSocket,
			"--advertise-client-urls=" + etcdSocket,
			"--listen-client-http-urls=" + health,
			"--listen-peer-urls=" + peer,
			"--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=lab=" + peer,
			"--client-cert-auth=true",
			"--trusted-ca-file=" + p.Cert(pki.EtcdCA),
			"--cert-file=" + p.Cert(pki.Etcd),
			"--key-file=" + p.Key(pki.Etcd),
			"--peer-client-cert-auth=true",
			"--peer-trusted-ca-file=" + p.Cert(pki.EtcdCA),
			"--peer-cert-file=" + p.Cert(pki.EtcdPeer),
			"--peer-key-file=" + p.Key(pki.EtcdPeer),
			// The only member elects itself after a random time of up to the timeout. It has no peers
			// whose silence the timeout could misjudge.
			"--heartbeat-interval=20",
			"--election-timeout=100",
			// The data is deleted when the lab stops, so durability is not needed.
			"--unsafe-no-fsync",
			"--log-level=warn",
		},
		Env: collectLess(c.hostMemory(256, 384)),
		Probe: Probe{
			URL: health + "/health", Contains: `"health":"true"`,
			CA: p.Cert(pki.EtcdCA), Cert: p.Cert(pki.EtcdClient), Key: p.Key(pki.EtcdClient),
		},
		StopGrace: 10 * time.Second,
	}
}
