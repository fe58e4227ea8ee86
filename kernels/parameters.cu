/* SPDX-License-Identifier: MIT */

struct small {
    char tag;
    short number;
};

struct large {
    char tag;
    double value;
    float2 point;
    unsigned char tail; /* seven bytes of padding follow */
};

/* Append the bytes of a value, without padding. */
template <typename Value>
static inline __device__ void append(unsigned char *&out, const Value &value)
{
    const unsigned char *bytes = (const unsigned char *)&value;

#pragma unroll
    for (unsigned int i = 0; i < sizeof value; i++)
        *out++ = bytes[i];
}

/* Every parameter and every member, one after the other without padding, so that the host can
 * check each byte that arrived: 73 of them. */
extern "C" __global__ void parameters(unsigned char *out, int integer, float4 vector,
                                      char character, float number, const void *pointer,
                                      float2 pair, small first, large second, short half,
                                      double wide, char last)
{
    append(out, integer);
    append(out, vector.x);
    append(out, vector.y);
    append(out, vector.z);
    append(out, vector.w);
    append(out, character);
    append(out, number);
    append(out, pointer);
    append(out, pair.x);
    append(out, pair.y);
    append(out, first.tag);
    append(out, first.number);
    append(out, second.tag);
    append(out, second.value);
    append(out, second.point.x);
    append(out, second.point.y);
    append(out, second.tail);
    append(out, half);
    append(out, wide);
    append(out, last);
}
