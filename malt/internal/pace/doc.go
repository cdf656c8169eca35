// SPDX-License-Identifier: Apache-2.0

// Package pace decides when a rank may send its update and when it may merge the
// updates of others. It is a state machine without network, clock or goroutines:
// the caller reports what has arrived and asks which ranks it has to wait for.
//
// A rank repeats rounds. A round computes, sends an update to the receivers of the
// graph, and merges updates of the senders:
//
//	for {
//		… compute …
//		for len(p.BeforeSend()) > 0 {
//			… wait for an event, report it by Arrived, Acked or Lost …
//		}
//		for _, to := range p.Send() {
//			… send the update of p.Round() to rank to …
//		}
//		for len(p.BeforeMerge()) > 0 {
//			… wait for an event …
//		}
//		… merge the updates for which p.Accepts(from, round) …
//		for _, from := range p.Merge() {
//			… send rank from the acknowledgement of its round p.Round()-1 …
//		}
//	}
//
// # Modes
//
//   - [BSP] (bulk synchronous): a rank merges the updates of its senders' same round. The
//     caller adds a barrier where all ranks, and not only neighbours, must be at the same round.
//   - [ASP] (asynchronous): no rank waits.
//   - [SSP] (stale synchronous, bound S): a rank merges what is at most S rounds older than its
//     own round. It waits for a sender that is more than S rounds behind.
//   - [NotifyAck]: as BSP, and a rank sends again only after all receivers have merged its last
//     update and acknowledged it. No update is overwritten before it was merged.
//
// # Memberships
//
// Rounds are counted over all memberships of a job. A rank that has sent n rounds begins the next membership in round n
// ([Config.Start]), and its receivers learn that number ([Pace.Began]). A loss may have ended round n for some ranks
// and not for others. The ranks that are behind do not wait for updates that others have sent before, and so they
// catch up. Their late updates are merged with the next one, and NotifyAck acknowledges them as they arrive. If each
// membership counted its own rounds, ranks would remain one round apart, and one of them would wait for ever for a
// round after the other's last one.
//
// In each mode a rank sends before it waits for others, so that cycles in the
// graph cannot deadlock: a wait for a round depends only on sends of the
// same round and merges of earlier rounds.
//
// Source: Li, Kadav, Kruus, Ungureanu, "MALT", EuroSys 2015, section 3.3, and MALT-2 for
// NOTIFY-ACK. SSP is that of Ho et al., "More effective distributed ML via a stale synchronous
// parallel parameter server", NIPS 2013.
package pace
