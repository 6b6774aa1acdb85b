package nccl

import (
	"cmp"
	"maps"
	"slices"
)

// log returns the result in a deterministic order.
func (p *logParser) log() Log {
	l := Log{Lines: p.lines, Joined: p.joined + p.cutChannels(), Cut: p.cut, Versions: p.versions, Warnings: p.warnings, Clipped: p.clipped}
	for name, h := range p.hosts {
		host := Host{Name: name, HCAs: h.lists(p.cut > 0), Networks: h.networks, NoDevice: h.noDevice, Sockets: h.sockets, Plugins: h.plugins, Providers: h.providers, GPUDirectOff: h.gdrOff, Settings: h.settings}
		slices.Sort(host.Networks)
		slices.Sort(host.Sockets)
		slices.Sort(host.Plugins)
		slices.Sort(host.Providers)
		slices.Sort(host.GPUDirectOff)
		slices.Sort(host.Settings)
		l.Hosts = append(l.Hosts, host)
	}
	slices.SortFunc(l.Hosts, func(a, b Host) int { return cmp.Compare(a.Name, b.Name) })
	l.Ranks = p.ranks()
	for c, n := range p.channels {
		c.Count = n
		if c.To < 0 {
			l.CollNet = append(l.CollNet, c)
		} else {
			l.Channels = append(l.Channels, c)
		}
	}
	slices.SortFunc(l.Channels, Channel.compare)
	slices.SortFunc(l.CollNet, Channel.compare)
	return l
}

func (c Channel) compare(b Channel) int {
	return cmp.Or(cmp.Compare(c.From, b.From), cmp.Compare(c.To, b.To), cmp.Compare(c.Direction, b.Direction),
		cmp.Compare(c.Device, b.Device), cmp.Compare(c.Transport, b.Transport), cmp.Compare(c.Host, b.Host), gdrOrder(c, b))
}

func gdrOrder(a, b Channel) int {
	switch {
	case a.GDR == b.GDR:
		return 0
	case a.GDR:
		return 1
	default:
		return -1
	}
}

// ranks merges the processes of one rank, one per run.
func (p *logParser) ranks() []Rank {
	type key struct {
		host                  string
		rank, device, unknown int
	}
	byRank := map[key]*Rank{}
	var ranks []*Rank
	for _, gpu := range slices.SortedFunc(maps.Keys(p.gpus), gpuKey.compare) { // on conflict the first process wins
		r := p.gpus[gpu]
		if r.empty() {
			continue
		}
		k := key{host: r.Host, rank: r.Rank, device: r.Device}
		if r.Rank < 0 {
			k.unknown = gpu.pid
		}
		if have, ok := byRank[k]; ok {
			have.fold(*r)
			continue
		}
		clone := *r
		byRank[k] = &clone
		ranks = append(ranks, &clone)
	}
	slices.SortStableFunc(ranks, func(a, b *Rank) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Device, b.Device))
	})
	out := make([]Rank, 0, len(ranks))
	for _, r := range ranks {
		out = append(out, *r)
	}
	return out
}

func (k gpuKey) compare(other gpuKey) int {
	return cmp.Or(cmp.Compare(k.host, other.host), cmp.Compare(k.device, other.device), cmp.Compare(k.pid, other.pid))
}
