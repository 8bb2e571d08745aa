-- Wireshark dissector for the frames of Weir that Wireshark does not know: FFC, GFC, OFC,
-- FlowSail, BFC, schemes of one's own, 802.1Qcz congestion isolation, and RoCEv2's CNP.
-- Works with Wireshark 3.6 and later. How to install it: docs/src/wireshark.md.
-- The layouts are those of the crate weir-wire.

local weir = Proto("weir", "Weir flow control")
local cnp = Proto("cnp", "RoCEv2 congestion notification")

local field = {
    scheme = ProtoField.string("weir.scheme", "Scheme"),
    opcode = ProtoField.uint16("weir.opcode", "Opcode", base.HEX),
    kind = ProtoField.uint8("weir.type", "Type"),
    pause = ProtoField.bool("weir.pause", "Pause"),
    priority = ProtoField.uint8("weir.priority", "Priority"),
    count = ProtoField.uint16("weir.count", "Number of flows"),
    flow = ProtoField.string("weir.flow", "Flow"),
    src = ProtoField.ipv4("weir.flow.src", "Source"),
    dst = ProtoField.ipv4("weir.flow.dst", "Destination"),
    src_port = ProtoField.uint16("weir.flow.src_port", "Source port"),
    dst_port = ProtoField.uint16("weir.flow.dst_port", "Destination port"),
    protocol = ProtoField.uint8("weir.flow.protocol", "Protocol"),
    flow_priority = ProtoField.uint8("weir.flow.priority", "Priority"),
    xoff = ProtoField.bool("weir.flow.xoff", "XOFF"),
    all = ProtoField.bool("weir.ofc.all", "All flows"),
    last = ProtoField.bool("weir.ofc.last", "Last fragment"),
    tuples = ProtoField.bool("weir.ofc.tuples", "Flows named by 5-tuple"),
    queue = ProtoField.uint32("weir.bfc.queue", "Queue"),
    bits = ProtoField.uint16("weir.bfc.bits", "Number of queues"),
    paused = ProtoField.uint16("weir.bfc.paused", "Paused queue"),
    enable = ProtoField.uint16("weir.gfc.enable", "Enable vector", base.HEX),
    class = ProtoField.uint8("weir.gfc.class", "Priority"),
    stage = ProtoField.uint8("weir.gfc.stage", "Stage"),
    units = ProtoField.uint16("weir.gfc.occupancy", "Occupancy (64 B)"),
    own = ProtoField.bytes("weir.own", "Bytes of the scheme"),
    version = ProtoField.uint8("weir.cim.version", "Version"),
    add = ProtoField.bool("weir.cim.add", "Isolate the flow"),
    cim_dst = ProtoField.ether("weir.cim.dst", "Destination of the flow"),
    cim_src = ProtoField.ether("weir.cim.src", "Source of the flow"),
    vid = ProtoField.uint16("weir.cim.vid", "VLAN"),
    msdu_len = ProtoField.uint16("weir.cim.msdu_len", "Length of the packet's beginning"),
    msdu = ProtoField.bytes("weir.cim.msdu", "Beginning of a packet"),
}
weir.fields = field

local malformed = ProtoExpert.new(
    "weir.malformed", "The frame is shorter than its fields say", expert.group.MALFORMED,
    expert.severity.ERROR)
weir.experts = { malformed }

local opcodes = {
    [0x0111] = "FFC", [0x0112] = "FFC", [0x0113] = "GFC", [0x0114] = "GFC",
}
local schemes = { "OFC", "OFC", "FlowSail", "FlowSail", "BFC", "BFC", "BFC" }

-- Whether `len` bytes are there; says so in the tree when they are not.
local function has(tvb, len, tree)
    if tvb:len() >= len then return true end
    tree:add_proto_expert_info(malformed)
    return false
end

-- Adds a flow of 8 or 13 bytes at `at`, with a text for its line.
local function add_flow(tree, tvb, at, tuple)
    local src, dst = tvb(at, 4), tvb(at + 4, 4)
    local text = tostring(src:ipv4()) .. " > " .. tostring(dst:ipv4())
    if tuple then
        text = string.format("%s:%d > %s:%d", tostring(src:ipv4()), tvb(at + 8, 2):uint(),
            tostring(dst:ipv4()), tvb(at + 10, 2):uint())
    end
    local item = tree:add(field.flow, tvb(at, tuple and 13 or 8), text)
    item:add(field.src, src)
    item:add(field.dst, dst)
    if tuple then
        item:add(field.src_port, tvb(at + 8, 2))
        item:add(field.dst_port, tvb(at + 10, 2))
        item:add(field.protocol, tvb(at + 12, 1))
    end
    return item, text
end

local function flows(count)
    return count == 1 and "1 flow" or count .. " flows"
end

local function ffc(tvb, tree, tuple)
    if not has(tvb, 4, tree) then return "FFC" end
    local count, size = tvb(2, 2):uint(), tuple and 13 or 8
    tree:add(field.count, tvb(2, 2))
    if not has(tvb, 4 + count * (size + 2), tree) then return "FFC" end
    local off = 0
    for i = 0, count - 1 do
        local at = 4 + i * (size + 2)
        local item = add_flow(tree, tvb, at, tuple)
        item:add(field.flow_priority, tvb(at + size, 1))
        item:add(field.xoff, tvb(at + size + 1, 1), tvb(at + size + 1, 1):uint() ~= 0)
        if tvb(at + size + 1, 1):uint() ~= 0 then off = off + 1 end
    end
    return string.format("FFC back pressure of %s: %d XOFF, %d XON", flows(count), off, count - off)
end

local function gfc(tvb, tree, is_stage)
    if not has(tvb, 20, tree) then return "GFC" end
    local enable = tvb(2, 2):uint()
    tree:add(field.enable, tvb(2, 2))
    local said = {}
    for class = 0, 7 do
        if math.floor(enable / 2 ^ class) % 2 == 1 then
            local value = tvb(4 + 2 * class, 2)
            local item = tree:add(field.class, value, class)
            if is_stage then
                item:add(field.stage, value(1, 1))
            else
                item:add(field.units, value)
            end
            said[#said + 1] = string.format("prio %d: %d", class, value:uint())
        end
    end
    local what = is_stage and "GFC stage, " or "GFC occupancy, "
    return what .. table.concat(said, ", ")
end

local function mac_control(tvb, tree)
    local opcode = tvb(0, 2):uint()
    tree:add(field.scheme, tvb(0, 2), opcodes[opcode])
    tree:add(field.opcode, tvb(0, 2))
    if opcode <= 0x0112 then return ffc(tvb, tree, opcode == 0x0112) end
    return gfc(tvb, tree, opcode == 0x0113)
end

local function ofc(tvb, tree, what)
    if not has(tvb, 6, tree) then return "OFC" end
    local flags, count = tvb(2, 1):uint(), tvb(4, 2):uint()
    local all, tuples = flags % 2 == 1, math.floor(flags / 4) % 2 == 1
    tree:add(field.priority, tvb(1, 1))
    tree:add(field.all, tvb(2, 1), all)
    tree:add(field.last, tvb(2, 1), math.floor(flags / 2) % 2 == 1)
    tree:add(field.tuples, tvb(2, 1), tuples)
    tree:add(field.count, tvb(4, 2))
    local size = tuples and 13 or 8
    if not has(tvb, 6 + count * size, tree) then return "OFC" end
    for i = 0, count - 1 do
        add_flow(tree, tvb, 6 + i * size, tuples)
    end
    local whom = all and "all flows" or flows(count)
    return string.format("OFC %s prio %d: %s", what, tvb(1, 1):uint(), whom)
end

local function flowsail(tvb, tree, what)
    if not has(tvb, 15, tree) then return "FlowSail" end
    tree:add(field.priority, tvb(1, 1))
    local _, text = add_flow(tree, tvb, 2, true)
    return string.format("FlowSail %s prio %d: %s", what, tvb(1, 1):uint(), text)
end

local function bfc(tvb, tree, what)
    if not has(tvb, 6, tree) then return "BFC" end
    tree:add(field.priority, tvb(1, 1))
    tree:add(field.queue, tvb(2, 4))
    return string.format("BFC %s queue %d", what, tvb(2, 4):uint())
end

local function bitmap(tvb, tree)
    if not has(tvb, 4, tree) then return "BFC" end
    local bits = tvb(2, 2):uint()
    tree:add(field.bits, tvb(2, 2))
    if not has(tvb, 4 + math.ceil(bits / 8), tree) then return "BFC" end
    local paused = 0
    for queue = 0, bits - 1 do
        local byte = tvb(4 + math.floor(queue / 8), 1)
        if math.floor(byte:uint() / 2 ^ (queue % 8)) % 2 == 1 then
            tree:add(field.paused, byte, queue)
            paused = paused + 1
        end
    end
    return string.format("BFC bitmap: %d of %d queues paused", paused, bits)
end

local function experimental(tvb, tree)
    local kind = tvb(0, 1):uint()
    tree:add(field.scheme, tvb(0, 1), schemes[kind] or "unknown")
    tree:add(field.kind, tvb(0, 1))
    if kind == 7 then return bitmap(tvb, tree) end
    if not schemes[kind] then return "unknown type " .. kind end
    local pause = kind % 2 == 1
    tree:add(field.pause, tvb(0, 1), pause)
    local what = pause and "PAUSE" or "RESUME"
    if kind <= 2 then return ofc(tvb, tree, what) end
    if kind <= 4 then return flowsail(tvb, tree, what) end
    return bfc(tvb, tree, what)
end

local function own(tvb, tree)
    tree:add(field.scheme, tvb(0, 1), "own")
    tree:add(field.own, tvb())
    return "message of a scheme of one's own"
end

local function cim(tvb, tree)
    tree:add(field.scheme, tvb(0, 1), "802.1Qcz")
    if not has(tvb, 17, tree) then return "802.1Qcz" end
    local first, len = tvb(0, 1):uint(), tvb(15, 2):uint()
    tree:add(field.version, tvb(0, 1), math.floor(first / 16))
    tree:add(field.add, tvb(0, 1), first % 2 == 1)
    tree:add(field.cim_dst, tvb(1, 6))
    tree:add(field.cim_src, tvb(7, 6))
    tree:add(field.vid, tvb(13, 2), tvb(13, 2):uint() % 4096)
    tree:add(field.msdu_len, tvb(15, 2))
    if len > 0 and has(tvb, 17 + len, tree) then
        tree:add(field.msdu, tvb(17, len))
    end
    return first % 2 == 1 and "congestion isolation: add" or "congestion isolation: delete"
end

local ethertypes = DissectorTable.get("ethertype")
local known_mac_control = ethertypes:get_dissector(0x8808)
local bodies = {
    [0x8808] = mac_control, [0x88b5] = experimental, [0x88b6] = own, [0x89a2] = cim,
}

function weir.dissector(tvb, pinfo, tree)
    local ethertype = pinfo.match_uint
    if tvb:len() < 2 then return 0 end
    if ethertype == 0x8808 and not opcodes[tvb(0, 2):uint()] then
        -- PAUSE, PFC and whatever else Wireshark knows itself; a frame that is cut off is an error
        local known, len = pcall(known_mac_control.call, known_mac_control, tvb, pinfo, tree)
        if known then return len end
        tree:add_proto_expert_info(malformed)
        return tvb:len()
    end
    pinfo.cols.protocol = "WEIR"
    local subtree = tree:add(weir, tvb())
    local info = bodies[ethertype](tvb, subtree)
    subtree:append_text(": " .. info)
    pinfo.cols.info = info
    return tvb:len()
end

for ethertype in pairs(bodies) do
    ethertypes:add(ethertype, weir)
end

-- Wireshark 4.0 knows the base header of a CNP, but not that it is one.
local cnp_field = {
    dest_qp = ProtoField.uint24("cnp.dest_qp", "Queue pair to slow down", base.HEX),
    becn = ProtoField.bool("cnp.becn", "BECN"),
    reserved = ProtoField.bytes("cnp.reserved", "Reserved"),
}
cnp.fields = cnp_field
local bth = Field.new("infiniband.bth")

function cnp.dissector(tvb, pinfo, tree)
    local header = bth()
    if not header or header.len < 12 then return end
    local at = header.offset
    if tvb(at, 1):uint() ~= 0x81 then return end
    local subtree = tree:add(cnp, tvb(at, math.min(28, tvb:len() - at)))
    subtree:add(cnp_field.dest_qp, tvb(at + 5, 3))
    subtree:add(cnp_field.becn, tvb(at + 4, 1), math.floor(tvb(at + 4, 1):uint() / 64) % 2 == 1)
    if tvb:len() >= at + 28 then
        subtree:add(cnp_field.reserved, tvb(at + 12, 16))
    end
    pinfo.cols.info = string.format("CNP QP=0x%06x", tvb(at + 5, 3):uint())
end

register_postdissector(cnp)
