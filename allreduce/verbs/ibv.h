// SPDX-License-Identifier: Apache-2.0

// What Go cannot call by itself: macros and inline functions of libibverbs, and whatever takes
// a structure that holds pointers. All of it returns an errno, 0 for success.

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#define GVW_AT_ONCE 16

struct gvw_done {
	uint64_t id;
	uint32_t op, status, vendor, len, imm, noted;
};

struct gvw_queue {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint32_t inline_max;
	struct gvw_done done[GVW_AT_ONCE];
};

static inline int gvw_errno(void) { return errno ? errno : EIO; }

static inline int gvw_port(struct ibv_context *c, int port, struct ibv_port_attr *a) {
	return ibv_query_port(c, port, a);
}

static inline int gvw_gid(struct ibv_context *c, int port, int index, uint8_t *gid, uint32_t *type) {
	struct ibv_gid_entry e;
	int rc = ibv_query_gid_ex(c, port, index, &e, 0);
	if (rc)
		return rc;
	memcpy(gid, e.gid.raw, 16);
	*type = e.gid_type;
	return 0;
}

static inline int gvw_register(struct ibv_pd *pd, uintptr_t addr, size_t n, int access, struct ibv_mr **mr) {
	*mr = ibv_reg_mr(pd, (void *)addr, n, access);
	return *mr ? 0 : gvw_errno();
}

static inline int gvw_window(struct ibv_pd *pd, struct ibv_mw **mw) {
	errno = 0;
	*mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	return *mw ? 0 : gvw_errno();
}

static inline int gvw_window_close(struct ibv_mw *mw) { return ibv_dealloc_mw(mw); }

static inline int gvw_queue_close(struct gvw_queue *q) {
	int rc = 0, r;
	if (q->qp && (r = ibv_destroy_qp(q->qp)))
		rc = r;
	if (q->cq && (r = ibv_destroy_cq(q->cq)) && !rc)
		rc = r;
	if (q->channel && (r = ibv_destroy_comp_channel(q->channel)) && !rc)
		rc = r;
	free(q);
	return rc;
}

static inline int gvw_queue_make(struct gvw_queue *q, struct ibv_context *c, struct ibv_pd *pd, int port,
	int sends, int receives, int inline_wish, int access) {
	struct ibv_qp_init_attr i;
	struct ibv_qp_attr a;
	int flags;
	if (!(q->channel = ibv_create_comp_channel(c)))
		return gvw_errno();
	flags = fcntl(q->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(q->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return gvw_errno();
	if (!(q->cq = ibv_create_cq(c, sends + receives, NULL, q->channel, 0)))
		return gvw_errno();
	memset(&i, 0, sizeof i);
	i.send_cq = i.recv_cq = q->cq;
	i.qp_type = IBV_QPT_RC;
	i.sq_sig_all = 1;
	i.cap.max_send_wr = sends;
	i.cap.max_recv_wr = receives;
	i.cap.max_send_sge = i.cap.max_recv_sge = 1;
	i.cap.max_inline_data = inline_wish;
	q->qp = ibv_create_qp(pd, &i);
	if (!q->qp) { // the device may carry less, or nothing, in a request
		i.cap.max_inline_data = 0;
		q->qp = ibv_create_qp(pd, &i);
	}
	if (!q->qp)
		return gvw_errno();
	q->inline_max = i.cap.max_inline_data;
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_INIT;
	a.port_num = port;
	a.qp_access_flags = access;
	return ibv_modify_qp(q->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static inline enum ibv_mtu gvw_mtu(int bytes) {
	return bytes >= 4096 ? IBV_MTU_4096 : bytes >= 2048 ? IBV_MTU_2048 : bytes >= 1024 ? IBV_MTU_1024 :
		bytes >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

static inline int gvw_connect(struct gvw_queue *q, int port, int global, int gid_index, const uint8_t *gid, int lid,
	uint32_t peer, uint32_t peer_psn, uint32_t psn, int mtu, int timeout, int retries, int rnr_retries) {
	struct ibv_qp_attr a;
	int rc;
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_RTR;
	a.path_mtu = gvw_mtu(mtu);
	a.dest_qp_num = peer;
	a.rq_psn = peer_psn;
	a.max_dest_rd_atomic = 1;
	a.min_rnr_timer = 12; // 0.64 ms
	a.ah_attr.port_num = port;
	a.ah_attr.dlid = lid;
	a.ah_attr.is_global = global;
	a.ah_attr.grh.sgid_index = gid_index;
	a.ah_attr.grh.hop_limit = 64;
	memcpy(&a.ah_attr.grh.dgid, gid, 16);
	rc = ibv_modify_qp(q->qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (rc)
		return rc;
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_RTS;
	a.sq_psn = psn;
	a.timeout = timeout;
	a.retry_cnt = retries;
	a.rnr_retry = rnr_retries;
	a.max_rd_atomic = 1;
	return ibv_modify_qp(q->qp, &a, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static inline int gvw_break(struct gvw_queue *q) {
	struct ibv_qp_attr a;
	memset(&a, 0, sizeof a);
	a.qp_state = IBV_QPS_ERR;
	return ibv_modify_qp(q->qp, &a, IBV_QP_STATE);
}

// The operation travels in the top byte of the number: a failed completion does not tell it.
static inline int gvw_send(struct gvw_queue *q, uint64_t id, int op, int opcode, uintptr_t addr, uint32_t n, uint32_t key,
	int in_line, uint32_t imm, uint64_t remote, uint32_t remote_key) {
	struct ibv_sge s = {.addr = addr, .length = n, .lkey = key};
	struct ibv_send_wr w, *bad = NULL;
	memset(&w, 0, sizeof w);
	w.wr_id = id | (uint64_t)op << 56;
	w.sg_list = &s;
	w.num_sge = n ? 1 : 0;
	w.opcode = opcode;
	w.send_flags = IBV_SEND_SIGNALED | (in_line ? IBV_SEND_INLINE : 0);
	w.imm_data = htobe32(imm);
	w.wr.rdma.remote_addr = remote;
	w.wr.rdma.rkey = remote_key;
	return ibv_post_send(q->qp, &w, &bad);
}

static inline int gvw_bind(struct gvw_queue *q, uint64_t id, int op, struct ibv_mw *mw, struct ibv_mr *mr, uintptr_t addr,
	uint32_t n, uint32_t key) {
	struct ibv_send_wr w, *bad = NULL;
	int rc;
	memset(&w, 0, sizeof w);
	w.wr_id = id | (uint64_t)op << 56;
	w.opcode = IBV_WR_BIND_MW;
	w.send_flags = IBV_SEND_SIGNALED;
	w.bind_mw.mw = mw;
	w.bind_mw.rkey = key;
	w.bind_mw.bind_info.mr = mr;
	w.bind_mw.bind_info.addr = addr;
	w.bind_mw.bind_info.length = n;
	w.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE;
	rc = ibv_post_send(q->qp, &w, &bad);
	if (!rc)
		mw->rkey = key; // the library leaves that to its caller
	return rc;
}

static inline int gvw_invalidate(struct gvw_queue *q, uint64_t id, int op, uint32_t key) {
	struct ibv_send_wr w, *bad = NULL;
	memset(&w, 0, sizeof w);
	w.wr_id = id | (uint64_t)op << 56;
	w.opcode = IBV_WR_LOCAL_INV;
	w.send_flags = IBV_SEND_SIGNALED;
	w.invalidate_rkey = key;
	return ibv_post_send(q->qp, &w, &bad);
}

static inline int gvw_receive(struct gvw_queue *q, uint64_t id, int op, uintptr_t addr, uint32_t n, uint32_t key) {
	struct ibv_sge s = {.addr = addr, .length = n, .lkey = key};
	struct ibv_recv_wr w, *bad = NULL;
	memset(&w, 0, sizeof w);
	w.wr_id = id | (uint64_t)op << 56;
	w.sg_list = &s;
	w.num_sge = 1;
	return ibv_post_recv(q->qp, &w, &bad);
}

// A count, or a negative errno.
static inline int gvw_poll(struct gvw_queue *q, int most) {
	struct ibv_wc wc[GVW_AT_ONCE];
	int n = ibv_poll_cq(q->cq, most < GVW_AT_ONCE ? most : GVW_AT_ONCE, wc);
	for (int i = 0; i < n; i++) {
		struct gvw_done *d = &q->done[i];
		d->id = wc[i].wr_id & 0xffffffffffffff;
		d->op = wc[i].wr_id >> 56;
		d->status = wc[i].status;
		d->vendor = wc[i].vendor_err;
		d->len = wc[i].byte_len;
		d->noted = wc[i].status == IBV_WC_SUCCESS && (wc[i].wc_flags & IBV_WC_WITH_IMM) != 0;
		d->imm = be32toh(wc[i].imm_data);
	}
	return n;
}

static inline int gvw_arm(struct gvw_queue *q) { return ibv_req_notify_cq(q->cq, 0); }

static inline void gvw_silence(struct gvw_queue *q) {
	struct ibv_cq *cq;
	void *context;
	while (!ibv_get_cq_event(q->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
}
