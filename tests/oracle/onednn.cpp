// Where oneDNN puts the elements of an array, for every tag it has: an iota is reordered into each, and
// what lies where is printed as questions for `tilewright eval -` with their answers, a tab between them.
//
//     g++ -O1 -o onednn onednn.cpp -ldnnl && ./onednn
//
// `cargo xtask oracles` builds it, asks the questions and compares.

#include <cstdio>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <dnnl.hpp>
#include <dnnl_debug.h>

using dnnl::memory;

namespace {

using Dims = memory::dims;

// A dim for each letter of the tag.
size_t rank_of(const std::string &tag) {
    std::set<char> letters;
    for (char c : tag) {
        if (std::isalpha(static_cast<unsigned char>(c))) letters.insert(std::tolower(c));
    }
    return letters.size();
}

std::string tuple(const Dims &values, const char *open, const char *close) {
    std::string text = open;
    for (size_t i = 0; i < values.size(); ++i) text += (i ? "," : "") + std::to_string(values[i]);
    // A tuple of one.
    if (values.size() == 1 && *open == '(') text += ",";
    return text + close;
}

// The offset of every element, row-major, found by its value in the reordered array.
std::vector<long> offsets(dnnl::engine &engine, const Dims &dims, memory::format_tag tag, long &storage) {
    Dims strides(dims.size(), 1);
    for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
    const long size = strides[0] * dims[0];
    memory from({dims, memory::data_type::f32, strides}, engine);
    memory to({dims, memory::data_type::f32, tag}, engine);
    storage = static_cast<long>(to.get_desc().get_size() / sizeof(float));
    auto *source = static_cast<float *>(from.get_data_handle());
    auto *target = static_cast<float *>(to.get_data_handle());
    std::iota(source, source + size, 1.0f);
    std::fill(target, target + storage, 0.0f);
    dnnl::stream stream(engine);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
    std::vector<long> places(size, -1);
    for (long at = 0; at < storage; ++at) {
        if (target[at] != 0.0f) places[static_cast<long>(target[at]) - 1] = at;
    }
    return places;
}

void ask(dnnl::engine &engine, const std::string &name, memory::format_tag tag, const Dims &all) {
    const Dims dims(all.begin(), all.begin() + rank_of(name));
    long storage = 0;
    const std::vector<long> places = offsets(engine, dims, tag, storage);
    const std::string spec = "\"" + tuple(dims, "[", "]") + " onednn:" + name + "\"";
    // The storage ends where an offset is refused.
    std::printf("coord(%s, %ld)\terror: coord: offset %ld of a storage of %ld elements\n", spec.c_str(), storage, storage,
                storage);
    const long size = static_cast<long>(places.size());
    for (long index = 0; index < size; index += size / 24 + 1) {
        Dims coordinate(dims.size());
        long rest = index;
        for (size_t i = dims.size(); i-- > 0; rest /= dims[i]) coordinate[i] = rest % dims[i];
        std::printf("offset(%s, %s)\t%ld\n", spec.c_str(), tuple(coordinate, "(", ")").c_str(), places[index]);
    }
}

}  // namespace

int main() {
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const std::vector<Dims> shapes = {
        {19, 21, 3, 2, 3, 2, 1, 1, 1, 1, 2, 1},
        {33, 5, 2, 3, 2, 1, 1, 1, 1, 1, 1, 2},
    };
    const struct {
        const char *name;
        memory::format_tag tag;
    } aliases[] = {
#define TAG(name) {#name, memory::format_tag::name}
        TAG(x),      TAG(nc),          TAG(cn),          TAG(tn),         TAG(nt),         TAG(ncw),        TAG(nwc),
        TAG(nchw),   TAG(nhwc),        TAG(chwn),        TAG(ncdhw),      TAG(ndhwc),      TAG(oi),         TAG(io),
        TAG(oiw),    TAG(owi),         TAG(wio),         TAG(iwo),        TAG(oihw),       TAG(hwio),       TAG(ohwi),
        TAG(ihwo),   TAG(iohw),        TAG(oidhw),       TAG(dhwio),      TAG(odhwi),      TAG(iodhw),      TAG(idhwo),
        TAG(goiw),   TAG(wigo),        TAG(goihw),       TAG(hwigo),      TAG(giohw),      TAG(goidhw),     TAG(giodhw),
        TAG(dhwigo), TAG(tnc),         TAG(ntc),         TAG(ldnc),       TAG(ldigo),      TAG(ldgoi),      TAG(ldio),
        TAG(ldoi),   TAG(ldgo),        TAG(nChw16c),     TAG(nCdhw8c),    TAG(NChw16n16c), TAG(OIhw4i16o4i), TAG(OIhw8i16o2i),
        TAG(IOhw16o16i), TAG(gOIhw8i8o), TAG(Goihw16g), TAG(gOihw16o),
#undef TAG
    };
    for (const Dims &shape : shapes) {
        for (const auto &alias : aliases) ask(engine, alias.name, alias.tag, shape);
        for (int tag = dnnl_format_tag_any + 1; tag < dnnl_format_tag_last; ++tag) {
            const std::string name = dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(tag));
            ask(engine, name, static_cast<memory::format_tag>(tag), shape);
        }
    }
    return 0;
}
