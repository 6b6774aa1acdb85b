package safety

// byDay are the steps of a lease under which something stands for others.
func byDay(s state, a asked, r answered) []state {
	switch a.op.Kind {
	case stand:
		return publishes(s, a, r)
	case take:
		return takes(s, r)
	case handBack:
		return handsBack(s, a, r)
	case extend:
		if r.outcome == done && s.published && r.saw.Ends > s.last || r.outcome == limit && (!s.has(a.token) || !s.published) {
			return nil
		}
		return shown(s, s.has(a.token), r)
	case notify:
		return shown(s, s.has(a.token), r)
	case look:
		return looks(s, r)
	case unused:
		switch {
		case !s.has(a.token):
			return nil
		case a.released:
			return []state{s.end(isFree, a.ending)}
		}
		return []state{s.to(isFree)}
	default:
		panic("no such operation: " + a.op.Kind)
	}
}

// publishes: the lease is available, and its token stays. Repeated, it is available or checked out;
// then the token is stale.
func publishes(s state, a asked, r answered) []state {
	good := s.has(a.token)
	opened := s
	if good && !s.published {
		opened.published, opened.open, opened.last = true, true, a.op.Last
	}
	switch r.outcome {
	case done:
		if !good || r.saw.Last != opened.last || r.saw.Token != s.token {
			return nil
		}
		return []state{opened}
	case stale: // or it was taken before the answer, which had to be asked for again
		if good && s.published {
			return nil
		}
		return []state{opened}
	default:
		return []state{s, opened}
	}
}

// takes: a checkout has a new token and the same limit.
func takes(s state, r answered) []state {
	open := s.phase == isHeld && s.open
	switch r.outcome {
	case done:
		if !open || r.token <= s.highest || r.saw.Token != 0 && r.saw.Last != s.last {
			return nil
		}
		s.token, s.highest, s.open = r.token, r.token, false
		return []state{s}
	case notOpen:
		if open {
			return nil
		}
		return []state{s}
	default:
		return []state{s}
	}
}

// handsBack: it is open again, and the token of who had it is good for nothing.
func handsBack(s state, a asked, r answered) []state {
	good := s.has(a.token) && s.published && !s.open
	back := s.mark(a.ending)
	back.token, back.open = 0, true
	switch r.outcome {
	case done:
		switch {
		case good:
			return []state{back}
		case s.marked(a.ending):
			return []state{s}
		}
		return nil
	case stale:
		if s.has(a.token) {
			return nil
		}
		return []state{s}
	case notOpen:
		if s.has(a.token) && !good {
			return []state{s}
		}
		return nil
	default:
		if good {
			return []state{s, back}
		}
		return []state{s}
	}
}

// looks: a read reveals a token that was not answered.
func looks(s state, r answered) []state {
	switch {
	case r.outcome != done:
		return []state{s}
	case r.saw.Token == 0:
		if s.phase == isHeld {
			return nil
		}
	case s.untold():
		if r.saw.Token <= s.highest {
			return nil
		}
		s.token, s.highest = r.saw.Token, r.saw.Token
	case !s.has(r.saw.Token):
		return nil
	}
	if s.phase == isHeld && r.saw.Last != s.last || r.saw.Ends > s.last {
		return nil
	}
	return []state{s}
}
