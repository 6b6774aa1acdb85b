package component

import (
	"time"

	"github.com/firstlight/firstlight/internal/lab/pki"
)

// Etcd builds etcd.
func (c Config) Etcd() Component {
	p := c.PKI()
	client, peer := c.url(c.Ports.Etcd), c.url(c.Ports.EtcdPeer)
	return Component{
		Name: Etcd,
		Argv: []string{
			"--name=lab",
			"--data-dir=" + c.Data(Etcd),
			"--listen-client-urls=" + client,
			"--advertise-client-urls=" + client,
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
			// The data is deleted when the lab stops, so durability is not needed.
			"--unsafe-no-fsync",
			"--log-level=warn",
		},
		Probe: Probe{
			URL: client + "/health", Contains: `"health":"true"`,
			CA: p.Cert(pki.EtcdCA), Cert: p.Cert(pki.EtcdClient), Key: p.Key(pki.EtcdClient),
		},
		StopGrace: 10 * time.Second,
	}
}
